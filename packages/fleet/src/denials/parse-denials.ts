import {
  either,
  fields,
  HOST,
  LATEST,
  list,
  NAME,
  number,
  oneOf,
  optional,
  readText,
  text,
} from '../checked-text.js';
import type { DenialReport, FleetDenial } from './denial-report.js';

/** Raised when an older reader would misread a text. */
export const FORM = 1;

/** A denial whose moment is its age, ms. */
type AgedDenial = Omit<FleetDenial, 'at'> & { readonly age: number };

/** The same in a text. */
export interface DenialText extends Omit<AgedDenial, 'mode' | 'degraded'> {
  readonly shadow?: true;
  readonly degraded?: true;
}

/** The report of a process. */
export interface ParsedReport extends Omit<DenialReport, 'process' | 'denials'> {
  readonly denials: readonly AgedDenial[];
}

/** We write no longer ones. */
const MOST_CHARACTERS = 200_000;
const MOST_DENIALS = 100;
const KEY = /^[\w#%.~@+=,/:-]{1,128}$/;
const SOURCE = /^[\w-]{1,100}$/;

const denial = fields({
  limiter: text(NAME),
  policy: text(NAME),
  key: text(KEY),
  cost: number(),
  count: number(),
  age: number(LATEST),
  retryAfter: either(oneOf(null), number(LATEST)),
  source: text(SOURCE),
  shadow: (given) => given === true,
  degraded: (given) => given === true,
});
const calls = fields({ count: number(), p50: number(), p99: number() });
const report = fields({
  host: text(HOST),
  pid: number(),
  denials: list(denial, MOST_DENIALS),
  omitted: number(),
  calls: optional(calls),
});

/** Reads the text of a process. @throws Error that says what is wrong */
export function parseDenials(given: string): ParsedReport {
  const { denials, calls: storeCalls, ...rest } = readText(given, MOST_CHARACTERS, report, FORM);
  const modes = denials.map(({ shadow, ...one }) => ({
    ...one,
    mode: shadow ? ('shadow' as const) : ('enforce' as const),
  }));
  return { ...rest, denials: modes, storeCalls };
}
