import type { Parameters, Rule } from '../../algorithms/algorithm.js';
import { type Part, storageKey } from '../../engine/call.js';
import type { PendingCall } from '../../pipeline/pending-call.js';
import { isSame, type KeyGroup } from './batch.js';

/** The keys and arguments of a script call. */
export interface Written {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/**
 * Groups as `decide.lua` reads them; its header says in which order.
 * @param now this process's clock, for calendars
 * @param at takes the place of the server's clock
 * @param packed whether the reply is one text
 */
export function written(groups: readonly KeyGroup[], now: number, at?: number, packed = false): Written {
  const moment = at === undefined ? (packed ? 'packed' : '') : String(at);
  const first = groups[0]!;
  const { call } = first.first;
  const keys: string[] = [];
  if (areAlike(groups)) {
    const { rule } = call.limit;
    for (const { first: one } of groups) keys.push(storageKey(one.call));
    return {
      keys,
      args: [moment, String(call.cost), String(first.calls.length), ...textOf(rule, at ?? now)],
    };
  }
  for (const group of groups) keys.push(...group.keys);
  const rules = new Rules(at ?? now);
  const args = writeGroups(groups, rules);
  return { keys, args: [moment, '', ...rules.text, ...args] };
}

/** Is each of them the same call, of one key, as often? */
function areAlike(groups: readonly KeyGroup[]): boolean {
  const [first] = groups as [KeyGroup];
  if (!first.isRun) return false;
  for (let i = 1; i < groups.length; i += 1) if (!isAlike(groups[i]!, first)) return false;
  return true;
}

const isAlike = ({ isRun, calls, first }: KeyGroup, other: KeyGroup): boolean =>
  isRun && calls.length === other.calls.length && isSame(first.call, other.first.call);

/**
 * The same for keys of any slot of one cluster node: such keys must not be declared.
 * @param prefix the client's own, which it adds to declared keys only
 */
export const undeclared = ({ keys, args }: Written, prefix: string): Written => ({
  keys: [],
  args: [String(keys.length), ...(prefix === '' ? keys : keys.map((key) => prefix + key)), ...args],
});

const REFUSED =
  /CROSSSLOT|\b(?:MOVED|ASK) \d|hash to the same slot|non local key|undeclared|numkeys|number of keys|not supported/i;

/** Did a proxy or a serverless cluster refuse such a script call? Then nothing was written. */
export const refusesUndeclared = (error: unknown): boolean =>
  REFUSED.test(String((error as Partial<Error> | undefined)?.message));

/**
 * Did the node not run such a script call at all? Without a key it does not redirect it: a primary that became a replica says so while it
 * loads the data of the new one.
 */
export const wasNotRun = (error: unknown): boolean =>
  refusesUndeclared(error) ||
  /^(?:LOADING|MASTERDOWN)\b/.test(String((error as Partial<Error> | undefined)?.message));

function writeGroups(groups: readonly KeyGroup[], rules: Rules): string[] {
  const args: string[] = [];
  /** Where in `args` is the number of groups that are like the last plain one. */
  let count = -1;
  let before: KeyGroup | undefined;
  for (const group of groups) {
    const { keys, calls, first } = group;
    if (before !== undefined && isAlike(group, before)) {
      args[count] = String(Number(args[count]) + 1);
    } else if (group.isRun) {
      count = args.push('1', rules.of(first.call), String(first.call.cost), String(calls.length)) - 4;
    } else {
      writeCalls(args, rules, keys, calls);
    }
    before = group.isRun ? group : undefined;
  }
  return args;
}

/** How many from place `i` on are the same call. */
function timesOf(calls: readonly PendingCall[], i: number): number {
  const { call } = calls[i]!;
  let next = i + 1;
  while (next < calls.length && isSame(calls[next]!.call, call)) next += 1;
  return next - i;
}

function writeCalls(
  args: string[],
  rules: Rules,
  keys: readonly string[],
  calls: readonly PendingCall[],
): void {
  const count = args.push('0', String(keys.length), '') - 1;
  let distinct = 0;
  for (let i = 0; i < calls.length; ) {
    const { operation, wait, parts, traced, overrides } = calls[i]!.call;
    const times = timesOf(calls, i);
    args.push(traced ? `traced ${operation}` : operation, String(wait), String(times), String(parts.length));
    parts.forEach((part, n) => {
      args.push(rules.of(part), String(part.cost), String(part.at));
      if (operation !== 'override') return;
      const override = overrides?.[n] ?? [];
      args.push(String(override.length), ...override.map(String));
    });
    i += times;
    distinct += 1;
  }
  args[count] = String(distinct);
}

/** The rules of a script call, each sent once. */
class Rules {
  readonly #now: number;
  readonly #places = new Map<Rule | string, string>();
  readonly #text: string[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  get text(): readonly string[] {
    return [String(this.#places.size), ...this.#text];
  }

  /** The place of a rule, as text. */
  of({ limit: { rule, shared } }: Part): string {
    const { tag } = rule.algorithm;
    const known = this.#places.get(shared === undefined ? rule : tag);
    if (known !== undefined) return known;
    const place = String(this.#places.size + 1);
    this.#places.set(shared === undefined ? rule : tag, place);
    if (shared === undefined) {
      const [, ...parameters] = textOf(rule, this.#now);
      this.#text.push(tag, String(parameters.length), ...parameters);
    } else {
      this.#text.push(tag, '0');
    }
    return place;
  }
}

const texts = new WeakMap<Parameters, readonly string[]>();

/** The tag of its algorithm, and each parameter. */
function textOf({ algorithm, parameters: given, parametersAt }: Rule, now: number): readonly string[] {
  const parameters = parametersAt?.(now) ?? given;
  let text = texts.get(parameters);
  if (text === undefined) {
    text = [algorithm.tag, ...parameters.map(String)];
    texts.set(parameters, text);
  }
  return text;
}
