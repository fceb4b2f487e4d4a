import type { Parameters, Rule } from '../algorithms/algorithm.js';
import type { Call, Part } from '../decisions/call.js';
import type { Asking } from './asking.js';
import { isPlain, isSame, type Visit } from './batch.js';

/** The keys and arguments of a script call. */
export interface Written {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Visits as `decide.lua` reads them; its header says in which order. `now` is this process's clock, for calendars. */
export function written(visits: readonly Visit[], now: number, at?: number): Written {
  const rules = new Rules(at ?? now);
  const keys: string[] = [];
  const args: string[] = [];
  /** The place in `args` where it stands how many visits the last plain one stands for. */
  let count = -1;
  let before: { readonly call: Call; readonly times: number } | undefined;
  for (const { keys: visited, asked } of visits) {
    for (const key of visited) keys.push(key);
    const { call } = asked[0]!;
    const times = timesOf(asked, 0);
    const plain = isPlain(call) && times === asked.length;
    if (plain && before?.times === times && isSame(before.call, call)) {
      args[count] = String(Number(args[count]) + 1);
    } else if (plain) {
      const [part] = call.parts as [Part];
      count = args.push('1', rules.of(part), String(part.cost), String(times)) - 4;
    } else {
      writeCalls(args, rules, visited, asked);
    }
    before = plain ? { call, times } : undefined;
  }
  return { keys, args: [at === undefined ? '' : String(at), ...rules.text, ...args] };
}

/** How many from place `i` on are the same call. */
function timesOf(asked: readonly Asking[], i: number): number {
  const { call } = asked[i]!;
  let next = i + 1;
  while (next < asked.length && isSame(asked[next]!.call, call)) next += 1;
  return next - i;
}

function writeCalls(args: string[], rules: Rules, keys: readonly string[], asked: readonly Asking[]): void {
  const count = args.push('0', String(keys.length), '') - 1;
  let calls = 0;
  for (let i = 0; i < asked.length; ) {
    const { operation, wait, parts } = asked[i]!.call;
    const times = timesOf(asked, i);
    args.push(operation, String(wait), String(times), String(parts.length));
    for (const part of parts) {
      args.push(rules.of(part), String(part.cost), String(part.at));
      if (operation !== 'override') continue;
      const { override = [] } = part;
      args.push(String(override.length), ...override.map(String));
    }
    i += times;
    calls += 1;
  }
  args[count] = String(calls);
}

/** The rules of a script call, each told once. */
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
  of({ rule, shared }: Part): string {
    const { tag } = rule.algorithm;
    const known = this.#places.get(shared === undefined ? rule : tag);
    if (known !== undefined) return known;
    const place = String(this.#places.size + 1);
    this.#places.set(shared === undefined ? rule : tag, place);
    if (shared !== undefined) this.#text.push(tag, '0');
    else this.#text.push(tag, ...textOf(rule.parametersAt?.(this.#now) ?? rule.parameters));
    return place;
  }
}

const texts = new WeakMap<Parameters, readonly string[]>();

/** How many parameters, and each. */
function textOf(parameters: Parameters): readonly string[] {
  let text = texts.get(parameters);
  if (text === undefined) {
    text = [String(parameters.length), ...parameters.map(String)];
    texts.set(parameters, text);
  }
  return text;
}
