import { checkOneOf } from '@sluice/core/internal';
import { accessLog, isCombined } from './access-log.js';
import { albLog } from './alb.js';
import type { LogFormat } from './format.js';
import { type JsonFields, jsonLog } from './json-lines.js';

const FORMATS = {
  combined: () => accessLog('combined'),
  common: () => accessLog('common'),
  json: jsonLog,
  alb: albLog,
} as const;

/** `combined` and `common` of nginx and Apache, JSON lines, AWS Application Load Balancer. */
export type LogFormatName = keyof typeof FORMATS;
export const LOG_FORMATS = Object.keys(FORMATS) as LogFormatName[];

/** @throws RangeError for an unknown name, TypeError for fields of another format than JSON */
export function formatOf(name: LogFormatName, fields: JsonFields | undefined): LogFormat {
  checkOneOf('format', name, LOG_FORMATS);
  if (fields !== undefined && name !== 'json') {
    throw new TypeError(`fields are for the format json, not for ${name}`);
  }
  return FORMATS[name](fields);
}

/** The format that reads most of these lines; undefined if none reads any. */
export function detectFormat(
  lines: readonly string[],
  fields: JsonFields | undefined,
): LogFormat | undefined {
  const ofServers = accessLog(lines.some(isCombined) ? 'combined' : 'common');
  const candidates = fields === undefined ? [jsonLog(), albLog(), ofServers] : [jsonLog(fields)];
  let best: LogFormat | undefined;
  let most = 0;
  for (const format of candidates) {
    const read = lines.filter((line) => typeof format.parse(line) !== 'string').length;
    if (read > most) [best, most] = [format, read];
  }
  return best;
}
