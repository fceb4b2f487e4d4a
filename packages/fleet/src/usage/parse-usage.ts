import type { UsageKeys } from '@sluice/core';
import {
  checkForm,
  fieldsOf,
  HOST,
  listOf,
  NAME,
  numberOf,
  oneOf,
  optional,
  parseFields,
  textOf,
  unreadable,
  VERSION_TEXT,
} from '../checked-text.js';
import { type ResultCounts, SLOT_MS, SLOTS } from './result-slots.js';
import { parseSample } from './sample-text.js';
import { CAPACITY, type Counted, type Summary } from './summary.js';
import { MOST_LIMITERS, OTHER_LIMITERS, type StoreUsageSummary, type UsageSummary } from './usage-summary.js';
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
/** A combination in `(other)` has two scopes: its name, and the member. */
const KEY = /^(?:[\w.:/@#+-]{1,2300} ){0,2}[\w#%.~@+=,/:-]{1,128}$/;

/** Reads the text of a process. @throws Error that says what is wrong */
export function parseUsage(text: string): ProcessUsage {
  const { form, version, host, pid, keys, slotAge, limiters } = parseFields(text, MOST_CHARACTERS);
  checkForm(form, FORM);
  const list = listOf('limiters', limiters, MOST_LIMITERS + 1).map(limiterOf);
  if (new Set(list.map(({ name }) => name)).size < list.length) throw unreadable('limiters');
  return {
    version: textOf('version', version, VERSION_TEXT),
    host: textOf('host', host, HOST),
    pid: numberOf('pid', pid),
    keys: oneOf<UsageKeys>('keys', keys, ['hash', 'plain']),
    slotAge: numberOf('slotAge', slotAge, SLOT_MS),
    limiters: list,
  };
}

function limiterOf(given: unknown): UsageSummary {
  const { name, span, denied, shadowDenied, costly, keyUse, shadowKeyUse, enforce, shadow } = fieldsOf(
    'fields',
    given,
  );
  return {
    name: name === OTHER_LIMITERS ? OTHER_LIMITERS : textOf('name', name, NAME),
    span: numberOf('span', span),
    denied: summaryOf(denied),
    shadowDenied: summaryOf(shadowDenied),
    costly: summaryOf(costly),
    keyUse: optional(keyUse, (sample) => parseSample('keyUse', sample)),
    shadowKeyUse: optional(shadowKeyUse, (sample) => parseSample('shadowKeyUse', sample)),
    enforce: countsOf(enforce),
    shadow: countsOf(shadow),
  };
}

function summaryOf(given: unknown): Summary {
  if (given === undefined) return { entries: [], total: 0, unlisted: 0 };
  const { total, unlisted, keys } = fieldsOf('fields', given);
  const values = listOf('keys', keys, 3 * CAPACITY);
  const entries: Counted[] = [];
  for (let i = 0; i < values.length; i += 3) {
    const count = numberOf('count', values[i + 1]);
    entries.push({
      key: textOf('key', values[i], KEY),
      count,
      error: numberOf('error', values[i + 2], count),
    });
  }
  if (new Set(entries.map(({ key }) => key)).size < entries.length) throw unreadable('keys');
  return { entries, total: numberOf('total', total), unlisted: numberOf('unlisted', unlisted) };
}

function countsOf(given: unknown): ResultCounts {
  const { allowed, denied, canceled, error } = fieldsOf('fields', given);
  const list = (counts: unknown) =>
    listOf('counts', counts ?? [], SLOTS).map((count) => numberOf('counts', count));
  return { allowed: list(allowed), denied: list(denied), canceled: list(canceled), error: list(error) };
}
