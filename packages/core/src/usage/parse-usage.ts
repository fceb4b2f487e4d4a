import type { SampleSummary } from './key-sample.js';
import { type ResultCounts, SLOT_MS, SLOTS } from './result-slots.js';
import { parseSample } from './sample-text.js';
import type { Counted, Summary } from './summary.js';
import type { UsageKeys } from './usage-options.js';
import { OTHER, type StoreUsageSummary, type UsageSummary } from './usage-summary.js';
import { FORM } from './usage-text.js';

/** What a process has told. */
export interface ProcessUsage extends StoreUsageSummary {
  /** Of its package. */
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly keys: UsageKeys;
}

/** We write no longer ones. */
const MOST_CHARACTERS = 1_000_000;
/** A combination may have the names of its members. */
const NAME = /^[\w.:/@#+-]{1,2100}$/;
/** A combination in `(other)` has two scopes: its name, and the member. */
const KEY = /^(?:[\w.:/@#+-]{1,2300} ){0,2}[\w#%.~@+=,/:-]{1,128}$/;
const VERSION = /^[\w.+-]{1,50}$/;
const HOST = /^[!-~]{0,255}$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the text of a process. Other programs may have written it, and what it contains may be shown in a terminal, so every value is
 * checked.
 * @throws Error that says what is wrong
 */
export function parseUsage(text: string): ProcessUsage {
  if (text.length > MOST_CHARACTERS) throw new Error(`it has ${text.length} characters`);
  const { form, version, host, pid, keys, slotAge, limiters } = fieldsOf(jsonOf(text));
  if (form !== FORM) {
    const newer = typeof form === 'number' && form > FORM;
    throw new Error(
      newer ? `it has form ${form}, and this version reads form ${FORM}: update it` : 'it has no known form',
    );
  }
  if (keys !== 'hash' && keys !== 'plain') throw invalid('keys');
  const list = listOf('limiters', limiters).map(limiterOf);
  if (new Set(list.map(({ name }) => name)).size < list.length) throw invalid('limiters');
  return {
    version: textOf('version', version, VERSION),
    host: textOf('host', host, HOST),
    pid: numberOf('pid', pid),
    keys,
    slotAge: numberOf('slotAge', slotAge, SLOT_MS),
    limiters: list,
  };
}

function limiterOf(given: unknown): UsageSummary {
  const { name, span, denied, shadowDenied, costly, keyUse, shadowKeyUse, enforce, shadow } = fieldsOf(given);
  return {
    name: name === OTHER ? OTHER : textOf('name', name, NAME),
    span: numberOf('span', span),
    denied: summaryOf(denied),
    shadowDenied: summaryOf(shadowDenied),
    costly: summaryOf(costly),
    keyUse: sampleOf('keyUse', keyUse),
    shadowKeyUse: sampleOf('shadowKeyUse', shadowKeyUse),
    enforce: countsOf(enforce),
    shadow: countsOf(shadow),
  };
}

function summaryOf(given: unknown): Summary {
  if (given === undefined) return { entries: [], total: 0, unlisted: 0 };
  const { total, unlisted, keys } = fieldsOf(given);
  const values = listOf('keys', keys);
  const entries: Counted[] = [];
  for (let i = 0; i < values.length; i += 3) {
    const count = numberOf('count', values[i + 1]);
    entries.push({
      key: textOf('key', values[i], KEY),
      count,
      error: numberOf('error', values[i + 2], count),
    });
  }
  if (new Set(entries.map(({ key }) => key)).size < entries.length) throw invalid('keys');
  return { entries, total: numberOf('total', total), unlisted: numberOf('unlisted', unlisted) };
}

/** A process without the option has none. */
function sampleOf(what: string, given: unknown): SampleSummary | undefined {
  if (given === undefined) return undefined;
  const sample = parseSample(fieldsOf(given));
  if (sample === undefined) throw invalid(what);
  return sample;
}

function countsOf(given: unknown): ResultCounts {
  const { allowed, denied, canceled, error } = fieldsOf(given);
  const list = (counts: unknown) =>
    listOf('counts', counts ?? [], SLOTS).map((count) => numberOf('counts', count));
  return { allowed: list(allowed), denied: list(denied), canceled: list(canceled), error: list(error) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
}

const invalid = (what: string): Error => new Error(`its ${what} cannot be read`);

function fieldsOf(given: unknown): Fields {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalid('fields');
  return given as Fields;
}

function listOf(what: string, given: unknown, most = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (!Array.isArray(given) || given.length > most) throw invalid(what);
  return given;
}

function textOf(what: string, given: unknown, form: RegExp): string {
  if (typeof given !== 'string' || !form.test(given)) throw invalid(what);
  return given;
}

function numberOf(what: string, given: unknown, most = Number.MAX_VALUE): number {
  if (typeof given !== 'number' || !(given >= 0 && given <= most)) throw invalid(what);
  return given;
}
