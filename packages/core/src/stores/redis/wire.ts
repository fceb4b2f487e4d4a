import type { Rule, Script } from '../../algorithms/algorithm.js';
import { boardScript } from '../../board/board.script.js';
import { sharedTextScript } from '../../board/shared-text.script.js';
import { type Part, storageKey } from '../../call/call.js';
import { PLAIN_BOOKING } from '../../call/limit.js';
import { decideScript } from '../../engine/decide.script.js';
import { claimScript } from '../claim.script.js';
import { lookScript } from '../look.script.js';
import { sharedRateScript } from '../shared-rate.script.js';
import { type Batch, isSame, type KeyGroup } from './batch.js';
import type { Written } from './client.js';

/**
 * A batch as `decide.lua` reads it; its header says in which order.
 * @param at takes the place of the server's clock
 * @param packed whether the reply is one text
 */
export function written(batch: Batch, at?: number, packed = false): Written {
  const { groups } = batch;
  const moment = at === undefined ? (packed ? 'packed' : '') : String(at);
  const first = groups[0]!;
  const call = first.first;
  const keys: string[] = [];
  // Has each group one key, and the same calls?
  if (first.isRun && (groups.length === 1 || groups.every((group) => isAlike(group, first)))) {
    const { rule } = call.limit;
    for (const { first: one } of groups) keys.push(storageKey(one));
    return {
      keys,
      args: [moment, String(call.cost), String(first.calls.length), ...textOf(rule, batch, at)],
    };
  }
  for (const group of groups) keys.push(...group.keys);
  const rules = new Rules(batch, at);
  const args = writeGroups(groups, rules);
  return { keys, args: [moment, '', ...rules.text, ...args] };
}

const isAlike = ({ isRun, calls, first }: KeyGroup, other: KeyGroup): boolean =>
  isRun && calls.length === other.calls.length && isSame(first, other.first);

/**
 * The same with undeclared keys, which may be in any slot of one cluster node.
 * @param prefix the client's `keyPrefix`: the client adds it to declared keys only
 */
export const undeclared = ({ keys, args }: Written, prefix: string): Written => ({
  keys: [],
  args: [String(keys.length), ...(prefix === '' ? keys : keys.map((key) => prefix + key)), ...args],
});

const says = (error: unknown, words: RegExp): boolean =>
  words.test(String((error as Partial<Error> | undefined)?.message));

/** Did a proxy or a serverless cluster refuse undeclared keys? Then nothing was written. */
export const refusesUndeclared = (error: unknown): boolean =>
  says(
    error,
    /CROSSSLOT|\b(?:MOVED|ASK) \d|hash to the same slot|non local key|undeclared|numkeys|number of keys|not supported/i,
  );

/**
 * Did the node not run a script call with undeclared keys at all? Without a key it does not redirect the call: a primary that became a
 * replica returns these errors while it loads the data of the new one.
 */
export const wasNotRun = (error: unknown): boolean =>
  refusesUndeclared(error) || says(error, /^(?:LOADING|MASTERDOWN)\b/);

function writeGroups(groups: readonly KeyGroup[], rules: Rules): string[] {
  const args: string[] = [];
  /** The place in `args` of the number of groups like the last run. */
  let count = -1;
  let before: KeyGroup | undefined;
  for (const group of groups) {
    const { calls, first } = group;
    if (before !== undefined && isAlike(group, before)) {
      args[count] = String(Number(args[count]) + 1);
    } else if (group.isRun) {
      count = args.push('1', rules.of(first), String(first.cost), String(calls.length)) - 4;
    } else {
      writeCalls(args, rules, group);
    }
    before = group.isRun ? group : undefined;
  }
  return args;
}

function writeCalls(args: string[], rules: Rules, { keys, calls }: KeyGroup): void {
  const count = args.push('0', String(keys.length), '') - 1;
  let distinct = 0;
  for (let i = 0; i < calls.length; ) {
    const call = calls[i]!;
    const { operation, wait, parts, traced, overrides } = call;
    let times = 1;
    while (i + times < calls.length && isSame(calls[i + times]!, call)) times += 1;
    args.push(traced ? `traced ${operation}` : operation, String(wait), String(times), String(parts.length));
    parts.forEach((part, n) => {
      args.push(rules.of(part), String(part.cost), String(part.at));
      const { margin, gap, maxWaiting } = part.booking ?? PLAIN_BOOKING;
      if (operation === 'acquire') args.push(String(margin), String(gap), String(maxWaiting));
      if (operation !== 'override') return;
      const override = overrides?.[n] ?? [];
      args.push(String(override.length), ...override.map(String));
    });
    i += times;
    distinct += 1;
  }
  args[count] = String(distinct);
}

/** The rules of a script call. Each is sent once. */
class Rules {
  readonly #places = new Map<Rule | string, string>();
  readonly #text: string[] = [];

  constructor(
    private readonly batch: Batch,
    private readonly at: number | undefined,
  ) {}

  get text(): readonly string[] {
    return [String(this.#places.size), ...this.#text];
  }

  /** The place of a part's rule, as text. */
  of({ limit: { rule, shared } }: Part): string {
    const { tag } = rule.algorithm;
    const known = this.#places.get(shared === undefined ? rule : tag);
    if (known !== undefined) return known;
    const place = String(this.#places.size + 1);
    this.#places.set(shared === undefined ? rule : tag, place);
    if (shared === undefined) {
      const [, ...parameters] = textOf(rule, this.batch, this.at);
      const { escalation = [] } = rule;
      const size = String(parameters.length + escalation.length);
      const kind = escalation.length === 0 ? tag : `${tag}^${escalation.length}`;
      this.#text.push(kind, size, ...parameters, ...escalation.map(String));
    } else {
      this.#text.push(tag, '0');
    }
    return place;
  }
}

/** The tag of its algorithm, and each parameter: of a calendar those of this moment. */
function textOf(rule: Rule, batch: Batch, at: number | undefined): readonly string[] {
  const of = rule.parametersAt?.(at ?? batch.localTime) ?? rule.parameters;
  if (rule.text?.of !== of) rule.text = { of, args: [rule.algorithm.tag, ...of.map(String)] };
  return rule.text.args;
}

/** Every script that a store sends to Redis. Limiters need the first one for each decision. */
export const redisScripts: readonly Script[] = [
  decideScript,
  sharedRateScript,
  boardScript,
  sharedTextScript,
  lookScript,
  claimScript,
];
