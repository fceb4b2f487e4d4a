import type { LogFormat } from './format.js';
import { LogRequest, requestLine } from './log-request.js';
import { isoTime } from './log-time.js';

const FIELD = /"([^"\\]*(?:\\.[^"\\]*)*)"|(\S+)/gs;
/** Indexes of the fields. */
const [TIME, CLIENT, SECONDS, STATUS, REQUEST, AGENT, CREATED] = [1, 3, 5, 8, 12, 13, 21];

/** Access logs of an AWS Application Load Balancer. The time of a request is its arrival. */
export const albLog = (): LogFormat => ({
  name: 'alb',
  parse(text) {
    const fields: string[] = [];
    for (const [, quoted, plain] of text.matchAll(FIELD)) {
      fields.push(quoted ?? plain!);
      if (fields.length > CREATED) break;
    }
    if (fields.length <= AGENT || !/^(?:https?|h2|grpcs|wss?)$/.test(fields[0]!)) {
      return 'is not of the access log of an Application Load Balancer';
    }
    const ended = isoTime(fields[TIME]!);
    if (ended === undefined) return 'has a time that does not exist, or after the year 2199';
    const sent = requestLine(fields[REQUEST]!);
    if (sent === undefined) return 'has no HTTP request';
    const duration = durationOf(fields.slice(SECONDS, SECONDS + 3));
    const agent = fields[AGENT]!;
    const status = Number(fields[STATUS]);
    return new LogRequest({
      time: isoTime(fields[CREATED] ?? '') ?? Math.max(0, ended - (duration ?? 0)),
      duration,
      status: Number.isInteger(status) ? status : undefined,
      ip: addressOf(fields[CLIENT]!),
      user: undefined,
      ...sent,
      headers: agent === '-' ? {} : { 'user-agent': agent },
    });
  },
});

/** Duration, µs; undefined for `-1`: the request was not sent to a target. */
function durationOf(seconds: readonly string[]): number | undefined {
  const parts = seconds.map(Number);
  if (!parts.every((part) => part >= 0 && part < 1e6)) return undefined;
  return Math.round(parts.reduce((sum, part) => sum + part, 0) * 1e6);
}

/** The address without the port. */
const addressOf = (client: string): string | undefined =>
  client === '-' ? undefined : client.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
