import type { UsageKeys } from '@sluice/core';
import {
  distinct,
  either,
  fields,
  HOST,
  list,
  NAME,
  number,
  oneOf,
  optional,
  type Reader,
  readText,
  text,
  VERSION_TEXT,
  whole,
} from '../checked-text.js';
import { byResult, type ResultCounts, SLOT_MS, SLOTS } from './result-slots.js';
import { sampleReader } from './sample-text.js';
import { CAPACITY, type Counted, type Summary } from './summary.js';
import {
  byList,
  MOST_LIMITERS,
  OTHER_LIMITERS,
  type StoreUsageSummary,
  type UsageSummary,
} from './usage-summary.js';
import { FORM } from './usage-text.js';

/** What a process has counted. */
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

/** The keys of a list: key, count, error, key, … */
const counted: Reader<readonly Counted[]> = (given, what) => {
  const values = list((value) => value, 3 * CAPACITY)(given, what);
  return Array.from({ length: Math.ceil(values.length / 3) }, (_, i) => {
    const [key, count, error] = values.slice(3 * i, 3 * i + 3);
    const most = number()(count, 'count');
    return { key: text(KEY)(key, 'key'), count: most, error: number(most)(error, 'error') };
  });
};

const keys = distinct(counted, ({ key }) => key);
const sums = fields({
  keys,
  total: number(),
  unlisted: number(),
  policies: optional(list(text(NAME), CAPACITY)),
  denying: optional(list(whole(CAPACITY), CAPACITY)),
});
const summary: Reader<Summary> = (given, what) => {
  if (given === undefined) return { entries: [], total: 0, unlisted: 0 };
  const { keys: entries, policies = [], denying = [], ...rest } = sums(given, what);
  return { entries: entries.map((one, i) => ({ ...one, policy: policies[denying[i]! - 1] })), ...rest };
};

const slots: Reader<readonly number[]> = (given) => list(number(), SLOTS)(given ?? [], 'counts');
const counts = fields<ResultCounts>(byResult(() => slots));

const limiter = fields<UsageSummary>({
  name: either(oneOf(OTHER_LIMITERS), text(NAME)),
  span: number(),
  ...byList(() => summary),
  keyUse: optional(sampleReader),
  shadowKeyUse: optional(sampleReader),
  enforce: counts,
  shadow: counts,
});

const processUsage = fields<ProcessUsage>({
  version: text(VERSION_TEXT),
  host: text(HOST),
  pid: number(),
  keys: oneOf('hash', 'plain'),
  slotAge: number(SLOT_MS),
  limiters: distinct(list(limiter, MOST_LIMITERS + 1), ({ name }) => name),
});

/** Reads the text of a process. @throws Error that says what is wrong */
export const parseUsage = (given: string): ProcessUsage =>
  readText(given, MOST_CHARACTERS, processUsage, FORM);
