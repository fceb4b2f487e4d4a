import type { EscalateOptions, Policy } from '@sluice/core';
import {
  type LimiterDefinition,
  type MeterDefinition,
  MOST_BYTES,
  type PlanDefinition,
  type ProcessDefinitions,
  type RulesDefinition,
} from '@sluice/core/internal';
import {
  asOne,
  checked,
  either,
  fields,
  HOST,
  list,
  map,
  NAME,
  number,
  oneOf,
  optional,
  type Reader,
  readText,
  text,
  textOrNumber,
  VERSION_TEXT,
  whole,
} from '../checked-text.js';

const LAYOUT_TEXT = /^v\d{1,9}$/;
const ANY = /^/;
const MOST_BLOCKS = 20;
/** The part of a scope before its first `:`. */
const KIND = /^[\w.-]{0,50}$/;

/** Lengths are checked where the escalation is used. */
const length = textOrNumber as Reader<EscalateOptions['within']>;

const escalate = asOne(
  fields<EscalateOptions>({
    after: number(),
    within: length,
    block: either(list(length, MOST_BLOCKS), length),
    forgive: optional(length),
  }),
);

/** Later versions have other algorithms. Numbers are checked where the policy is used. */
const policy = checked(
  map(either(oneOf(true, false), textOrNumber), ANY),
  ({ algorithm }) => typeof algorithm === 'string' && NAME.test(algorithm),
) as unknown as Reader<Policy>;

const plan = {
  policies: map(policy, NAME),
  escalate: optional(escalate),
  cost: optional(either(oneOf('varies' as const), whole())),
};

/** Numbers and words, by option. They are checked where the policy is used. */
const numbers = map(either(oneOf(true, false), textOrNumber), NAME);
/** An object of at most `most` fields: each of them is looked up. */
const atMost = <T>(most: number, read: Reader<Readonly<Record<string, T>>>) =>
  checked(read, (all) => Object.keys(all).length <= most);
const axes = atMost(20, map(policy, NAME));

const meter = fields<MeterDefinition>({
  axes,
  soft: list(text(NAME)),
  plans: optional(map(axes, ANY)),
  overrides: optional(map(map(numbers, NAME), ANY)),
  scopes: atMost(10, map(list(text(NAME)), KIND)),
});

const limiter = fields<LimiterDefinition>({
  kind: oneOf('limiter', 'per-request', 'factory', 'combined', 'shared', 'meter'),
  name: text(NAME),
  keyPrefix: text(),
  hashTag: optional(text()),
  ...plan,
  several: oneOf(true, false),
  prefixes: map(text(), NAME),
  suffix: text(),
  key: optional(text()),
  prefetch: optional(oneOf(true as const)),
  plans: optional(map(fields<PlanDefinition>(plan), ANY)),
  members: optional(map(text(), NAME)),
  rate: optional(text()),
  meter: optional(meter),
});

/** Has each policy a prefix, and a single one the name of the limiter? */
function hasPrefixes({ name, policies, several, prefixes, plans = {} }: LimiterDefinition): boolean {
  const names = Object.keys(policies);
  const all = [policies, ...Object.values(plans).map((one) => one.policies)].flatMap(Object.keys);
  const isNamed = names.length === 0 || several || names.join() === name;
  return isNamed && all.every((one) => Object.hasOwn(prefixes, one));
}

const rules = fields<RulesDefinition>({
  name: text(),
  source: text(),
  version: optional(textOrNumber),
  fingerprint: optional(text()),
  problem: optional(text()),
});

/** A limiter that can be looked at. */
export const limiterText = checked(limiter, hasPrefixes, 'policies');

/**
 * Reads the text of a process.
 * @param leftOut called with why a limiter or a document of rules is not among the others
 * @throws Error that says what is wrong with all of it
 */
export function parseDefinitions(given: string, leftOut: (reason: string) => void): ProcessDefinitions {
  const each =
    <T>(what: string, read: Reader<T>): Reader<readonly T[]> =>
    (all) =>
      list((one) => one)(all, `${what}s`).flatMap((one, i) => {
        try {
          return [read(one, 'fields')];
        } catch (error) {
          leftOut(`${what} ${i + 1} of its ${what}s: ${(error as Error).message}`);
          return [];
        }
      });
  const definitions = fields<ProcessDefinitions>({
    version: text(VERSION_TEXT),
    layout: text(LAYOUT_TEXT),
    host: text(HOST),
    pid: number(),
    limiters: each('limiter', limiterText),
    omitted: number(),
    rules: (all) => each('document of rule', rules)(all ?? [], 'rules'),
    denials: optional(oneOf(true as const)),
  });
  return readText(given, MOST_BYTES, definitions);
}
