import type { Duration } from '@sluice/core';
import { checkOptions, describe, readProperty, toMicros } from '@sluice/core/internal';
import type { LogFormat } from './format.js';
import { isMethod, isUrl, LogRequest, requestLine, userOf } from './log-request.js';
import { timeOfValue } from './log-time.js';

/**
 * The fields of a line of JSON: names, or paths such as `req.method`. Default: the names that
 * loggers use.
 */
export interface JsonFields {
  /** ISO 8601, or s, ms, µs or ns since 1970. With a duration, it is the end of the request. */
  readonly time?: string;
  /** A number of ms, or a text such as `0.12s`. */
  readonly duration?: string;
  readonly method?: string;
  /** A path or a URL. */
  readonly path?: string;
  readonly ip?: string;
  /** A name, or an object such as `{ id, plan }`. */
  readonly user?: string;
  readonly status?: string;
  readonly headers?: string;
}

type Name = keyof JsonFields;
const NAMES = ['time', 'duration', 'method', 'path', 'ip', 'user', 'status', 'headers'] as const;

/** The names that nginx, Apache, Caddy, pino, morgan, Google Cloud and Elastic's schema use. */
const USUAL: Readonly<Record<Name, readonly string[]>> = {
  time: ['time', 'timestamp', '@timestamp', 'ts', 'time_iso8601', 'msec', 'time_local', 'date', 'datetime'],
  duration: ['responseTime', 'duration_ms', 'durationMs', 'httpRequest.latency'],
  method: ['method', 'request_method', 'req.method', 'request.method', 'httpRequest.requestMethod'].concat(
    'http.request.method',
    'http_method',
    'verb',
  ),
  path: ['url', 'path', 'uri', 'request_uri', 'req.url', 'request.uri', 'request.url', 'url.original'].concat(
    'url.path',
    'httpRequest.requestUrl',
    'http_path',
  ),
  ip: [
    'ip',
    'remote_addr',
    'client_ip',
    'clientIp',
    'remoteAddress',
    'remote_ip',
    'req.remoteAddress',
  ].concat('request.client_ip', 'request.remote_ip', 'client.ip', 'source.ip', 'httpRequest.remoteIp'),
  user: ['user', 'remote_user', 'user_id', 'userId', 'req.user', 'user_name'],
  status: ['status', 'statusCode', 'status_code', 'res.statusCode', 'httpRequest.status'],
  headers: ['headers', 'req.headers', 'request.headers', 'http.request.headers'],
};

/** Lines of one JSON object each. @throws TypeError for unknown names of fields */
export function jsonLog(fields: JsonFields = {}): LogFormat {
  checkOptions('fields', fields, NAMES);
  for (const [name, path] of Object.entries(fields)) {
    if (typeof path !== 'string' || path === '')
      throw new TypeError(`fields: ${name} must be the name of a field, not ${describe(path)}`);
  }
  const find = (line: unknown, name: Name): unknown => {
    for (const path of fields[name] === undefined ? USUAL[name] : [fields[name]]) {
      const value = valueAt(line, path);
      if (value !== undefined && value !== null && value !== '' && value !== '-') return value;
    }
    return undefined;
  };
  return {
    name: 'json',
    parse(text) {
      const line = objectOf(text);
      if (line === undefined) return 'is not a JSON object';
      const time = timeOfValue(find(line, 'time'));
      if (time === undefined) return 'has no time that can be read, or one after the year 2199';
      const sent = requestOf(line, find);
      if (sent === undefined) return 'has no method and path';
      const ip = find(line, 'ip');
      const user = find(line, 'user');
      const status = Number(find(line, 'status'));
      const duration = durationOf(line, find(line, 'duration'), fields.duration === undefined);
      return new LogRequest({
        time: Math.max(0, time - (duration ?? 0)),
        duration,
        status: Number.isInteger(status) ? status : undefined,
        ip: typeof ip === 'string' ? ip : undefined,
        user: typeof user === 'string' || typeof user === 'number' ? userOf(String(user)) : user,
        ...sent,
        headers: headersOf(line, find(line, 'headers')),
      });
    },
  };
}

function objectOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A field of this name, or the value at the end of this path. */
function valueAt(line: unknown, path: string): unknown {
  const own = readProperty(line, path);
  if (own !== undefined || !path.includes('.')) return own;
  let value = line;
  for (const name of path.split('.')) value = readProperty(value, name);
  return value;
}

function requestOf(line: unknown, find: (line: unknown, name: Name) => unknown) {
  const method = find(line, 'method');
  const url = find(line, 'path');
  if (isMethod(method) && isUrl(url)) return { method, url };
  const whole = readProperty(line, 'request');
  return typeof whole === 'string' ? requestLine(whole) : undefined;
}

/** Duration, µs. */
function durationOf(line: unknown, value: unknown, usual: boolean): number | undefined {
  // nginx and Caddy write seconds.
  const seconds = usual ? Number(readProperty(line, 'request_time') ?? Number.NaN) : Number.NaN;
  if (seconds >= 0 && seconds < 1e6) return Math.round(seconds * 1e6);
  if (typeof value === 'number') return value >= 0 && value < 1e9 ? Math.round(value * 1000) : undefined;
  if (value === undefined) return undefined;
  try {
    return toMicros('duration', value as Duration, 0);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Includes the variables of nginx: `http_x_api_key` is the header `x-api-key`. */
function headersOf(line: object, given: unknown): Record<string, unknown> {
  const headers: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(line)) {
    if (name.startsWith('http_') && typeof value === 'string' && value !== '' && value !== '-')
      headers[name.slice(5).replaceAll('_', '-').toLowerCase()] = value;
  }
  for (const [name, value] of Object.entries(Object(given) as Record<string, unknown>)) {
    headers[name.toLowerCase()] = Array.isArray(value) && value.length === 1 ? value[0] : value;
  }
  return headers;
}
