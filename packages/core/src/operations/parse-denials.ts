import { FORM } from '../fleet/denial-text.js';
import type { DenialReport, FleetDenial } from './denial-report.js';

/** The report of a process; moments are ages. */
export interface ParsedReport extends Omit<DenialReport, 'process' | 'denials'> {
  readonly denials: readonly (Omit<FleetDenial, 'at'> & { readonly age: number })[];
}

/** We write no longer ones. */
const MOST_CHARACTERS = 200_000;
const MOST_DENIALS = 100;
/** A combination may have the names of its members. */
const NAME = /^[\w.:/@#+-]{1,2100}$/;
const KEY = /^[\w#%.~@+=,/:-]{1,128}$/;
const HOST = /^[!-~]{0,255}$/;
const SOURCE = /^[\w-]{1,100}$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the text of a process. Other programs may publish on the channel, and what it contains is shown in a terminal, so every value is
 * checked. Undefined for a text that is not ours, or of another version.
 */
export function parseDenials(text: string): ParsedReport | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  let report: Fields;
  try {
    report = fieldsOf(JSON.parse(text));
  } catch {
    return undefined;
  }
  const { form, host, pid, denials, omitted, calls } = report;
  const list = Array.isArray(denials) && denials.length <= MOST_DENIALS ? denials.map(denialOf) : [undefined];
  const storeCalls = calls === undefined ? undefined : callsOf(fieldsOf(calls));
  const areRead =
    list.every((denial) => denial !== undefined) && (calls === undefined) === (storeCalls === undefined);
  if (form !== FORM || !areRead || !isText(host, HOST) || !isNumber(pid) || !isNumber(omitted))
    return undefined;
  return { host, pid, denials: list, omitted, storeCalls };
}

function denialOf(given: unknown): ParsedReport['denials'][number] | undefined {
  const fields = fieldsOf(given);
  const { limiter, policy, key, cost, count, age, retryAfter, source, shadow, degraded } = fields;
  if (!isText(limiter, NAME) || !isText(policy, NAME) || !isText(key, KEY)) return undefined;
  if (!isNumber(cost) || !isNumber(count) || !isNumber(age) || !isText(source, SOURCE)) return undefined;
  if (retryAfter !== null && !isNumber(retryAfter)) return undefined;
  const mode = shadow === true ? 'shadow' : 'enforce';
  return { limiter, policy, key, cost, count, age, retryAfter, mode, source, degraded: degraded === true };
}

function callsOf({ count, p50, p99 }: Fields): DenialReport['storeCalls'] {
  return isNumber(count) && isNumber(p50) && isNumber(p99) ? { count, p50, p99 } : undefined;
}

const fieldsOf = (given: unknown): Fields =>
  typeof given === 'object' && given !== null ? (given as Fields) : {};

const isText = (given: unknown, form: RegExp): given is string =>
  typeof given === 'string' && form.test(given);

/** The largest moment that a `Date` has. */
const MOST = 8.64e15;

const isNumber = (given: unknown): given is number =>
  typeof given === 'number' && given >= 0 && given <= MOST;
