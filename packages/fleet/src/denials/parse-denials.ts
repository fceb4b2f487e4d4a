import {
  checkForm,
  fieldsOf,
  HOST,
  LATEST,
  listOf,
  NAME,
  numberOf,
  optional,
  parseFields,
  textOf,
} from '../checked-text.js';
import type { DenialReport, FleetDenial } from './denial-report.js';
import { FORM } from './denial-text.js';

/** The report of a process; moments are ages. */
export interface ParsedReport extends Omit<DenialReport, 'process' | 'denials'> {
  readonly denials: readonly (Omit<FleetDenial, 'at'> & { readonly age: number })[];
}

/** We write no longer ones. */
const MOST_CHARACTERS = 200_000;
const MOST_DENIALS = 100;
const KEY = /^[\w#%.~@+=,/:-]{1,128}$/;
const SOURCE = /^[\w-]{1,100}$/;

/** Reads the text of a process. @throws Error that says what is wrong */
export function parseDenials(text: string): ParsedReport {
  const { form, host, pid, denials, omitted, calls } = parseFields(text, MOST_CHARACTERS);
  checkForm(form, FORM);
  return {
    host: textOf('host', host, HOST),
    pid: numberOf('pid', pid),
    denials: listOf('denials', denials, MOST_DENIALS).map(denialOf),
    omitted: numberOf('omitted', omitted),
    storeCalls: optional(calls, callsOf),
  };
}

function denialOf(given: unknown): ParsedReport['denials'][number] {
  const fields = fieldsOf('denials', given);
  const { limiter, policy, key, cost, count, age, retryAfter, source, shadow, degraded } = fields;
  return {
    limiter: textOf('limiter', limiter, NAME),
    policy: textOf('policy', policy, NAME),
    key: textOf('key', key, KEY),
    cost: numberOf('cost', cost),
    count: numberOf('count', count),
    age: numberOf('age', age, LATEST),
    retryAfter: retryAfter === null ? null : numberOf('retryAfter', retryAfter, LATEST),
    mode: shadow === true ? 'shadow' : 'enforce',
    source: textOf('source', source, SOURCE),
    degraded: degraded === true,
  };
}

function callsOf(given: unknown): DenialReport['storeCalls'] {
  const { count, p50, p99 } = fieldsOf('calls', given);
  return { count: numberOf('count', count), p50: numberOf('p50', p50), p99: numberOf('p99', p99) };
}
