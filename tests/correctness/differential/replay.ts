import type { Redis } from 'ioredis';
import type { State } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Answer, Call } from '../../../packages/core/src/call/call.js';
import { PendingCall, THE_ANSWER } from '../../../packages/core/src/call/pending-call.js';
import { decide } from '../../../packages/core/src/engine/decide.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { type Entry, encodeEntry, expiryOf, isEnvelope } from '../../../packages/core/src/engine/entry.js';
import { KeyState } from '../../../packages/core/src/engine/key-state.js';
import { Batch } from '../../../packages/core/src/stores/redis/batch.js';
import { answerCalls, Numbers } from '../../../packages/core/src/stores/redis/reply.js';
import { written } from '../../../packages/core/src/stores/redis/wire.js';
import { uniqueName } from '../../support/redis-url.js';

/** A call at a moment. */
export interface TimedCall {
  readonly now: number;
  readonly call: Call;
}

/** The result: the answer, and for each key afterwards its bytes in hexadecimal and its TTL in ms. */
export interface Observed {
  readonly answer: Answer;
  readonly stored: readonly (string | null)[];
  readonly ttls: readonly number[];
}

/** The result in TypeScript. */
export interface Expected extends Observed {
  readonly changed: boolean;
  /** For each key, whether its previous TTL is long enough: then the script may keep it. */
  readonly lasting: readonly boolean[];
}

/** The keys of a history in TypeScript. */
export class Model {
  readonly entries: (Entry | undefined)[];

  constructor(keys: number) {
    this.entries = Array.from({ length: keys }, () => undefined);
  }

  ask({ now, call }: TimedCall): Expected {
    const before = [...this.entries];
    /** The algorithm of each key; an escalation has the next key. */
    const tags: string[] = [];
    const places = call.parts.map(({ limit: { rule } }) => {
      const place = tags.push(rule.algorithm.tag) - 1;
      if (rule.escalation !== undefined) tags.push('escalation');
      return place;
    });
    const keyStates = call.parts.map((part, i) => {
      const place = places[i]!;
      const counted = part.limit.rule.escalation && (before[place + 1] as State | undefined);
      return new KeyState(part, before[place], now, undefined, counted);
    });
    const answer = decide(call, keyStates);
    const kept = new Set<number>();
    const keep = (place: number, entry: Entry | undefined) => {
      kept.add(place);
      this.entries[place] = entry === undefined || expiryOf(entry) <= now ? undefined : entry;
    };
    keyStates.forEach((keyState, i) => {
      if (keyState.keeps(call.operation)) keep(places[i]!, keyState.entry());
      if (keyState.escalated) keep(places[i]! + 1, keyState.escalation);
    });
    const tag = (i: number) => tags[i];
    return {
      answer,
      changed: keyStates.some((keyState) => keyState.keeps(call.operation)),
      lasting: this.entries.map((entry, i) => {
        const earlier = before[i];
        return (
          entry !== undefined &&
          earlier !== undefined &&
          keptUntil(entry, tag(i)) <= keptUntil(earlier, tag(i))
        );
      }),
      stored: this.entries.map((entry) => (entry === undefined ? null : packed(entry))),
      ttls: this.entries.map((entry, i) => {
        if (entry === undefined) return -2;
        if (!kept.has(i)) return -1;
        return Math.floor((keptUntil(entry, tag(i)) - now) / 1000) + 2;
      }),
    };
  }
}

/**
 * The moment (µs) until which Redis keeps an entry. A bucket that stores only when it is full is kept longer than necessary: see
 * `kept_until` in meter.lua.
 */
function keptUntil(entry: Entry, tag: string | undefined): number {
  if (tag !== 'tb' || isEnvelope(entry) || entry.length > 4) return expiryOf(entry);
  const [full, seen] = entry as [number, number];
  let step = 1;
  while (2 * step <= full - seen) step *= 2;
  return Math.ceil(full / step) * step;
}

/** The bytes of an entry, as tables of entries keep them: the same as in Redis. */
export const packed = (entry: Entry): string => encodeEntry(entry).toString('hex');

/** The bytes of a text in hexadecimal, in Lua. */
export const HEX = `
local digits = setmetatable({}, { __index = function(known, c)
  known[c] = string.format('%02x', string.byte(c))
  return known[c]
end })
local function hex(raw)
  return raw and (string.gsub(raw, '.', digits))
end`;

/** decide.lua, after which no key expires: Redis expires keys by its own clock, not by the injected moments. */
export const WITHOUT_EXPIRY = `
local function run(KEYS, ARGV)
${decideScript.source}
end
local reply = run(KEYS, ARGV)
for i = 1, #KEYS do redis.call('PERSIST', KEYS[i]) end
return reply`;

/**
 * Runs the original script once for each call, all within one script call, in which no key expires: keys expire by Redis's clock, not
 * by the injected moments, and a key with a short TTL must not expire between two calls.
 */
export const replayScript = (source: string) => `
local function run(KEYS, ARGV)
${source}
end
${HEX}
local results, next = {}, 1
while next <= #ARGV do
  local args, size = {}, tonumber(ARGV[next])
  for i = 1, size do args[i] = ARGV[next + i] end
  next = next + size + 1
  local observed = { run(KEYS, args) }
  for i = 1, #KEYS do
    observed[#observed + 1] = hex(redis.call('GET', KEYS[i]))
    observed[#observed + 1] = redis.call('PTTL', KEYS[i])
    redis.call('PERSIST', KEYS[i])
  end
  results[#results + 1] = observed
end
for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end
return results`;

/** Sends the same calls to the script. */
export async function replay(
  redis: Redis,
  sha1: string,
  keys: number,
  history: readonly TimedCall[],
): Promise<Observed[]> {
  const names = Array.from({ length: keys }, () => uniqueName('twin'));
  const batches = history.map(({ call }) => batchOf([call]));
  const args = history.flatMap(({ now }, i) => {
    const line = written(batches[i]!, now).args;
    return [String(line.length), ...line];
  });
  const results = (await redis.evalsha(sha1, keys, ...names, ...args)) as [
    unknown[],
    ...(string | number | null)[],
  ][];
  return Promise.all(
    results.map(async ([reply, ...rest], i) => ({
      answer: (await answersOf(batches[i]!, reply))[0]!,
      stored: names.map((_, key) => rest[key * 2] as string | null),
      ttls: names.map((_, key) => rest[key * 2 + 1] as number),
    })),
  );
}

/** The answers to the calls of `batchOf`. */
export const answers = new WeakMap<PendingCall, Promise<Answer>>();

export function batchOf(calls: readonly Call[]): Batch {
  const batch = new Batch();
  for (const call of calls) {
    const pending = PendingCall.of(call);
    answers.set(pending, pending.begin(THE_ANSWER));
    batch.add(pending);
  }
  return batch;
}

/** The answers to the calls of a batch, group by group; rejects with the error of a call. */
export function answersOf({ groups }: Batch, reply: unknown): Promise<Answer[]> {
  answerCalls(groups, new Numbers(reply));
  return Promise.all(groups.flatMap(({ calls }) => calls.map((call) => answers.get(call)!)));
}
