import type { EscalateOptions, Policy } from '@sluice/core';
import {
  type DefinitionKind,
  type LimiterDefinition,
  MOST_BYTES,
  type PlanDefinition,
  type ProcessDefinitions,
  type RulesDefinition,
} from '@sluice/core/internal';
import {
  type Fields,
  fieldsOf,
  HOST,
  listOf,
  mapOf,
  NAME,
  numberOf,
  oneOf,
  optional,
  parseFields,
  textOf,
  textOrNumber,
  unreadable,
  VERSION_TEXT,
  wholeOf,
} from '../checked-text.js';

const KINDS: readonly DefinitionKind[] = ['limiter', 'per-request', 'factory', 'combined', 'shared'];
const LAYOUT_TEXT = /^v\d{1,9}$/;
const ANY = /^/;
const MOST_BLOCKS = 20;

/**
 * Reads the text of a process.
 * @param leftOut called with why a limiter or a document of rules is not among the others
 * @throws Error that says what is wrong with all of it
 */
export function parseDefinitions(text: string, leftOut: (reason: string) => void): ProcessDefinitions {
  const { version, layout, host, pid, limiters, omitted, rules, denials } = parseFields(text, MOST_BYTES);
  const each = <T>(what: string, list: unknown, read: (fields: Fields) => T): T[] =>
    listOf(`${what}s`, list).flatMap((given, i) => {
      try {
        return [read(fieldsOf('fields', given))];
      } catch (error) {
        leftOut(`${what} ${i + 1} of its ${what}s: ${(error as Error).message}`);
        return [];
      }
    });
  return {
    version: textOf('version', version, VERSION_TEXT),
    layout: textOf('layout', layout, LAYOUT_TEXT),
    host: textOf('host', host, HOST),
    pid: numberOf('pid', pid),
    limiters: each('limiter', limiters, limiterOf),
    omitted: numberOf('omitted', omitted),
    rules: each('document of rule', rules ?? [], rulesOf),
    denials: optional(denials, (given) => oneOf('denials', given, [true as const])),
  };
}

function rulesOf({ name, source, version, fingerprint, problem }: Fields): RulesDefinition {
  return {
    name: textOf('name', name),
    source: textOf('source', source),
    version: optional(version, (given) => textOrNumber('version', given)),
    fingerprint: optional(fingerprint, (given) => textOf('fingerprint', given)),
    problem: optional(problem, (given) => textOf('problem', given)),
  };
}

function limiterOf(fields: Fields): LimiterDefinition {
  const { kind, name, keyPrefix, hashTag, several, prefixes, suffix, key } = fields;
  const { prefetch, plans, members, rate } = fields;
  const definition = {
    kind: oneOf('kind', kind, KINDS),
    name: textOf('name', name, NAME),
    keyPrefix: textOf('keyPrefix', keyPrefix),
    hashTag: optional(hashTag, (given) => textOf('hashTag', given)),
    ...numbersOf(fields),
    several: oneOf('several', several, [true, false]),
    prefixes: textsOf('prefixes', prefixes),
    suffix: textOf('suffix', suffix),
    key: optional(key, (given) => textOf('key', given)),
    prefetch: optional(prefetch, (given) => oneOf('prefetch', given, [true as const])),
    plans: optional(plans, (given) =>
      mapOf('plans', given, ANY, (plan) => numbersOf(fieldsOf('plans', plan))),
    ),
    members: optional(members, (given) => textsOf('members', given)),
    rate: optional(rate, (given) => textOf('rate', given)),
  };
  const names = Object.keys(definition.policies);
  const isNamed = names.length === 0 || definition.several || names.join() === definition.name;
  const all = [definition, ...Object.values(definition.plans ?? {})].flatMap(({ policies }) =>
    Object.keys(policies),
  );
  if (!isNamed || !all.every((one) => Object.hasOwn(definition.prefixes, one))) throw unreadable('policies');
  return definition;
}

const numbersOf = ({ policies, escalate, cost }: Fields): PlanDefinition => ({
  policies: mapOf('policies', policies, NAME, policyOf),
  escalate: optional(escalate, escalateOf),
  cost: optional(cost, (given) => (given === 'varies' ? given : wholeOf('cost', given))),
});

/** Later versions have other algorithms. Numbers are checked where the policy is used. */
function policyOf(given: unknown): Policy {
  const { algorithm, ...options } = fieldsOf('policies', given);
  for (const option of Object.values(options))
    if (typeof option !== 'boolean') textOrNumber('policies', option);
  return { ...options, algorithm: textOf('policies', algorithm, NAME) };
}

function escalateOf(given: unknown): EscalateOptions {
  const { after, within, block, forgive } = fieldsOf('escalate', given);
  const length = (one: unknown) => textOrNumber('escalate', one) as EscalateOptions['within'];
  return {
    after: numberOf('escalate', after),
    within: length(within),
    block: Array.isArray(block) ? listOf('escalate', block, MOST_BLOCKS).map(length) : length(block),
    forgive: optional(forgive, length),
  };
}

const textsOf = (what: string, given: unknown) => mapOf(what, given, NAME, (text) => textOf(what, text));
