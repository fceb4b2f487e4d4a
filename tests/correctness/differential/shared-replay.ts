import type { Redis } from 'ioredis';
import type { Answer, Call } from '../../../packages/core/src/call/call.js';
import { decide } from '../../../packages/core/src/engine/decide.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { type Entry, expiryOf, isEnvelope } from '../../../packages/core/src/engine/entry.js';
import { KeyState } from '../../../packages/core/src/engine/key-state.js';
import { RateNotSetError } from '../../../packages/core/src/errors.js';
import { written } from '../../../packages/core/src/stores/redis/wire.js';
import {
  type RateChange,
  SharedRates,
  type StoredRate,
} from '../../../packages/core/src/stores/shared-rate.js';
import { sharedRateScript } from '../../../packages/core/src/stores/shared-rate.script.js';
import { uniqueName } from '../../support/redis-url.js';
import { batchOf, HEX } from './replay.js';

/** The keys of a shared limit: of the whole fleet, of two clients, and of the rate itself. */
export const KEYS = ['all', 'a', 'b', 'rate'] as const;
const STATES = KEYS.slice(0, 3);
const RATE = KEYS[3];

/** At a moment a call changes or reads the rate, or the rate decides a call. */
export interface TimedCall {
  readonly now: number;
  readonly ask: RateChange | Call;
}

/** The result: the reply, and the stored value of each key afterwards. */
export interface Observed {
  readonly reply: readonly number[];
  readonly kept: readonly unknown[];
  /** TTL, ms; -1 for keys that were not written. */
  readonly ttls: readonly number[];
}

/** A step, its result in TypeScript, and the TTL of the rate before it (ms; undefined: no rate). */
export interface Step extends TimedCall {
  readonly expected: Observed;
  readonly alive: number | undefined;
}

const isChange = (ask: RateChange | Call): ask is RateChange => 'action' in ask;

/** A call with the storage key of its state. */
type KeyedState = KeyState & { readonly key: string };

/** A memory store, step by step. */
export class SharedModel {
  readonly #rates = new SharedRates();
  readonly #entries = new Map<string, Entry>();

  ask({ now, ask }: TimedCall): Step & { readonly answer?: Answer | undefined } {
    const before = this.#rate(now);
    const keyStates: KeyedState[] = [];
    const answer = isChange(ask) ? undefined : this.#decide(ask, now, keyStates);
    const reply = isChange(ask) ? this.#change(ask, now) : answerOf(answer, now);
    const rate = this.#rate(now);
    const [keyState] = keyStates;
    const written = !isChange(ask) && keyState?.keeps(ask.operation) ? keyState.key : undefined;
    const kept = STATES.map((key) => plain(this.#entries.get(key)));
    const ttls = STATES.map((key) => {
      const entry = this.#entries.get(key);
      if (entry === undefined) return -2;
      return key === written ? Math.floor((expiryOf(entry) - now) / 1000) + 2 : -1;
    });
    return {
      now,
      ask,
      answer,
      alive: before && Math.ceil((before.until - now) / 1000),
      expected: {
        reply,
        kept: [...kept, rate && [rate.rateVersion, rate.keepAlive, rate.perClient, ...rate.parameters]],
        ttls: [...ttls, rate === undefined ? -2 : Math.ceil((rate.until - now) / 1000)],
      },
    };
  }

  #rate(now: number) {
    try {
      return { ...this.#rates.get({ config: RATE, name: '', client: '' }, now) };
    } catch {
      return undefined;
    }
  }

  #change(change: RateChange, now: number): number[] {
    const { changed, rate } = this.#rates.change(change, now);
    return [Number(changed), ...(rate === undefined ? [] : numbersOf(rate))];
  }

  #decide(call: Call, now: number, keyStates: KeyedState[]): Answer | undefined {
    const [part] = call.parts as [Call['parts'][0]];
    try {
      const rate = this.#rates.get(part.limit.shared!, now);
      const key = rate.perClient === 1 ? part.limit.shared!.client : part.key;
      keyStates.push(Object.assign(new KeyState(part, this.#entries.get(key), now, rate), { key }));
    } catch (error) {
      if (error instanceof RateNotSetError) return undefined;
      throw error;
    }
    const [keyState] = keyStates as [KeyedState];
    const answer = decide(call, keyStates);
    if (call.operation !== 'peek') this.#rates.use(part.limit.shared!, Math.max(now, answer.parts[0]!.at));
    if (keyState.keeps(call.operation)) {
      const entry = keyState.entry();
      if (entry === undefined || expiryOf(entry) <= now) this.#entries.delete(keyState.key);
      else this.#entries.set(keyState.key, entry);
    }
    return answer;
  }
}

const numbersOf = ({ keepAlive, perClient, parameters }: StoredRate) => [keepAlive, perClient, ...parameters];

/** The reply of the script to a call that is not simple. */
function answerOf(answer: Answer | undefined, moment: number): number[] {
  if (answer === undefined) return [moment, -1];
  const { allowed, now, wait, parts } = answer;
  const [{ remaining, wait: own, reset, at, override = [] }] = parts as [Answer['parts'][0]];
  return [now, -6 - Number(allowed), wait, remaining, own, reset, at, override.length, ...override];
}

/** An entry without its empty fields. */
function plain(entry: Entry | undefined): unknown {
  if (entry === undefined || !isEnvelope(entry)) return entry;
  const { policyState: _, ...rest } = entry;
  return { ...rest, state: entry.state ?? [], queueEndState: entry.queueEndState ?? [] };
}

const doublesOf = (bytes: Buffer) =>
  Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleBE(i * 8));

/** Decodes the bytes of a key; see `entry.ts` and `decide.lua`. */
function read(hex: string | null, key: string): unknown {
  if (hex === null) return undefined;
  const all = Buffer.from(hex, 'hex');
  if (key === RATE) return doublesOf(all);
  const rateVersion = all.readDoubleBE(1);
  const bytes = all.subarray(9);
  const [stateSize, endSize, queueSize, hasGaps, seen, blockedUntil, overrideUntil] = doublesOf(
    bytes.subarray(1, 57),
  );
  let from = 57;
  const next = (size: number) => {
    from += size;
    return doublesOf(bytes.subarray(from - size, from));
  };
  const [state, queueEndState, queue, override] = [
    next(stateSize!),
    next(endSize!),
    next(queueSize!),
    next(bytes.length - from),
  ];
  return {
    state,
    queue,
    queueEndState,
    hasGaps: hasGaps === 1,
    seen,
    blockedUntil,
    override,
    overrideUntil,
    rateVersion,
  };
}

/**
 * Runs the two scripts, a history in one script call, in which no key expires: keys expire by Redis's clock, not by the injected
 * moments. Before each step the rate gets the TTL that it has at the injected moment.
 */
const replayScript = (decide: string, change: string) => `
local function decide(KEYS, ARGV)
${decide}
end
local function change(KEYS, ARGV)
${change}
end
${HEX}
local results, next = {}, 1
while next <= #ARGV do
  local alive, client, size = ARGV[next], tonumber(ARGV[next + 1]), tonumber(ARGV[next + 2])
  local args = {}
  for i = 1, size do args[i] = ARGV[next + 2 + i] end
  next = next + 3 + size
  if alive == '' then redis.call('DEL', KEYS[4]) else redis.call('PEXPIRE', KEYS[4], alive) end
  local observed
  if client == 0 then observed = { change({ KEYS[4] }, args) } else observed = { decide({ KEYS[1], KEYS[client], KEYS[4] }, args) } end
  for i = 1, #KEYS do
    observed[#observed + 1] = hex(redis.call('GET', KEYS[i]))
    observed[#observed + 1] = redis.call('PTTL', KEYS[i])
    redis.call('PERSIST', KEYS[i])
  end
  results[#results + 1] = observed
end
for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end
return results`;

export const loadReplay = async (
  redis: Redis,
  { decide = decideScript.source, change = sharedRateScript.source } = {},
): Promise<string> => String(await redis.script('LOAD', replayScript(decide, change)));

/** Sends the same steps to the scripts. */
export async function replay(redis: Redis, sha1: string, history: readonly Step[]): Promise<Observed[]> {
  const names = KEYS.map(() => uniqueName('twin'));
  const args = history.flatMap(({ now, ask, alive }) => {
    const [client, line] = isChange(ask)
      ? [0, changeArgs(ask, now)]
      : [clientOf(ask), written(batchOf([ask]), now).args];
    return [alive === undefined ? '' : String(alive), String(client), String(line.length), ...line];
  });
  const results = (await redis.evalsha(sha1, KEYS.length, ...names, ...args)) as [number[], ...unknown[]][];
  return results.map(([reply, ...rest]) => ({
    reply,
    kept: KEYS.map((key, i) => read(rest[i * 2] as string | null, key)),
    ttls: KEYS.map((_, i) => rest[i * 2 + 1] as number),
  }));
}

const clientOf = ({ parts }: Call) => KEYS.indexOf(parts[0]!.limit.shared!.client as 'a' | 'b') + 1;
const changeArgs = ({ action, rate }: RateChange, now: number) =>
  [now, action, ...(rate === undefined ? [] : numbersOf(rate))].map(String);

/** The first difference of replies or stored values, if any. @param lost time that has passed meanwhile, ms */
export function difference(
  history: readonly Step[],
  actual: readonly Observed[],
  lost: number,
): string | undefined {
  const eras = [new Map<number, number>(), new Map<number, number>()] as const;
  for (const [i, { ask, now, expected }] of history.entries()) {
    const { reply, kept, ttls } = actual[i]!;
    const where = `step ${i}, ${isChange(ask) ? ask.action : ask.operation} at ${now}`;
    const [mine, theirs] = [expected, { reply, kept }].map((observed, side) =>
      sorted({ reply: observed.reply, kept: observed.kept.map((value) => renamed(value, eras[side]!)) }),
    );
    if (mine !== theirs) return `${where}: TypeScript ${mine}, Lua ${theirs}`;
    for (const [key, ttl] of ttls.entries()) {
      const due = expected.ttls[key]!;
      const least = due < 0 ? due : Math.max(0, Math.floor(due - lost));
      if (ttl > due || ttl < least)
        return `${where}: ${KEYS[key]} has a TTL of ${ttl} ms, where ${due} were due`;
    }
  }
  return undefined;
}

/** Numbers the marks of settings in the order in which they occur. */
function renamed(value: unknown, versions: Map<number, number>): unknown {
  const name = (version: number) => {
    if (!versions.has(version)) versions.set(version, versions.size);
    return versions.get(version);
  };
  if (Array.isArray(value)) return [name(value[0]), ...value.slice(1)];
  return value && { ...value, rateVersion: name((value as { rateVersion: number }).rateVersion) };
}

/** As text, independent of the order of properties. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
