import type { Redis } from 'ioredis';
import type { Rule } from '../../../packages/core/src/algorithms/algorithm.js';
import {
  BEGAN,
  holdRule,
  KEEP,
  LAPSES,
  MOST_HELD,
  REFUND,
} from '../../../packages/core/src/algorithms/hold/hold.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Answer, Call } from '../../../packages/core/src/call/call.js';
import { decide } from '../../../packages/core/src/engine/decide.js';
import { type Entry, encodeEntry, expiryOf, isEnvelope } from '../../../packages/core/src/engine/entry.js';
import { KeyState } from '../../../packages/core/src/engine/key-state.js';
import { fixedWindow, slidingLog, slidingWindow, tokenBucket } from '../../../packages/core/src/index.js';
import { written } from '../../../packages/core/src/stores/redis/wire.js';
import { limitOf } from '../../support/limit-of.js';
import type { Random } from '../../support/random.js';
import { uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { answersOf, batchOf, HEX } from './replay.js';

/** Holds that share the same limits. */
const HOLDS = 4;
const MINUTE = 60_000_000;

/** The rules after the record's: limits that count spent and held amounts, and last a limit that counts held ones only. */
const rulesOf = (random: Random): readonly Rule[] => {
  const spent = [
    fixedWindow({ limit: 20, window: '1m' }),
    fixedWindow({ limit: 30, window: '1m', align: 'clock' }),
    fixedWindow({ limit: 25, window: '1 month', timeZone: 'Europe/Berlin' }),
    tokenBucket({ capacity: 20, refill: 20, every: '1m' }),
    slidingLog({ limit: 15, window: '1m' }),
    slidingWindow({ limit: 15, window: '1m', slots: 4 }),
  ];
  const two = [spent[random(spent.length)]!, spent[random(spent.length)]!].map(compilePolicy);
  const counting = two.flatMap((rule) => [rule, holdRule(MOST_HELD)]);
  return random(3) === 0 ? [holdRule(6), ...counting] : [...counting, holdRule(6)];
};

const record = holdRule(0);

/** A step: a call of the hold `which`, and what TypeScript makes of it. */
export interface HoldStep {
  readonly which: number;
  readonly now: number;
  readonly call: Call;
  readonly answer: Answer;
  /** Of each hold, then of each rule: the stored bytes, in hexadecimal. */
  readonly stored: readonly (string | null)[];
}

/** Random holds, tops-up, renewals, settles, blocks, and clocks that go on and back. */
export function holdHistory(random: Random, length: number, seen: Set<string>): HoldStep[] {
  const rules = rulesOf(random);
  const entries: (Entry | undefined)[] = Array.from({ length: HOLDS + rules.length }, () => undefined);
  let now = START + random(30 * MINUTE);
  return Array.from({ length }, () => {
    now += random(8) === 0 ? -random(2 * MINUTE) : random([1, 20_000, 2_000_000, MINUTE][random(4)]!);
    const which = random(HOLDS);
    // At the moment at which a hold lapses, or a window that began with it ends.
    const known = entries[which];
    const moments = known !== undefined && !isEnvelope(known) ? [known[LAPSES]!, known[BEGAN]! + MINUTE] : [];
    const moment = moments[random(6)];
    if (moment !== undefined && moment > now) now = moment;
    const kinds = ['hold', 'hold', 'hold', 'hold', 'settle', 'settle', 'peek', 'charge', 'block'] as const;
    const operation = kinds[random(kinds.length)]!;
    const isHold = operation === 'hold' || operation === 'settle';
    const owner = random(12) === 0 ? 8 : 7;
    const first = {
      limit: limitOf(record),
      key: `hold ${which}`,
      cost: isHold ? random(3) : 0,
      at: isHold ? owner : 0,
    };
    const parts = rules.map((rule, i) => {
      const cost = random(5) === 0 ? random(40) : random(6);
      const isSoft = operation === 'hold' && random(6) === 0;
      return { limit: limitOf(rule), key: `rule ${i}`, cost: isHold ? cost : random(3), at: isSoft ? 1 : 0 };
    });
    const wait = isHold ? [1_000, 2 ** 20, 1_000_000, 30_000_000][random(4)]! : random(2) * random(3_000_000);
    const traced = operation !== 'charge' && operation !== 'block' && random(2) === 0;
    const call: Call = { operation, wait, parts: [first, ...parts], traced };
    const { answer, stored } = decideOn(entries, which, now, call);
    seen.add(`${operation} ${answer.allowed ? 'allowed' : answer.wait < 0 ? 'never' : 'denied'}`);
    if (operation === 'hold' && answer.allowed)
      seen.add(first.cost === KEEP ? 'keep' : first.cost === REFUND ? 'refund' : 'more');
    return { which, now, call, answer, stored };
  });
}

/** Decides a call of the hold `which`, and keeps the entries. */
function decideOn(entries: (Entry | undefined)[], which: number, now: number, call: Call) {
  const places = [which, ...call.parts.slice(1).map((_, i) => HOLDS + i)];
  const keyStates = call.parts.map((part, i) => new KeyState(part, entries[places[i]!], now));
  const answer = decide(call, keyStates);
  keyStates.forEach((keyState, i) => {
    if (!keyState.keeps(call.operation)) return;
    const entry = keyState.entry();
    entries[places[i]!] = entry === undefined || expiryOf(entry) <= now ? undefined : entry;
  });
  return {
    answer,
    stored: entries.map((entry) => (entry === undefined ? null : encodeEntry(entry).toString('hex'))),
  };
}

/** A hold that has taken nothing is settled at the moment at which a window that began with it would end. */
export function settledAtTheEnd(align: 'first-hit' | 'clock'): HoldStep[] {
  const rules = [compilePolicy(fixedWindow({ limit: 20, window: '1m', align })), holdRule(MOST_HELD)];
  const entries: (Entry | undefined)[] = Array.from({ length: HOLDS + rules.length }, () => undefined);
  return (['hold', 'settle'] as const).map((operation, i) => {
    const now = Math.ceil(START / MINUTE + i) * MINUTE;
    const parts = rules.map((rule, n) => ({ limit: limitOf(rule), key: `rule ${n}`, cost: 5, at: 0 }));
    const first = { limit: limitOf(record), key: 'hold 0', cost: REFUND, at: 7 };
    const call: Call = { operation, wait: 2 * MINUTE, parts: [first, ...parts] };
    return { which: 0, now, call, ...decideOn(entries, 0, now, call) };
  });
}

/** A hold that grew is settled with less at the moment at which its begin leaves the window. */
export function settledAsItsBeginLeaves(): HoldStep[] {
  const rules = [compilePolicy(slidingLog({ limit: 20, window: '1m' })), holdRule(MOST_HELD)];
  const entries: (Entry | undefined)[] = Array.from({ length: HOLDS + rules.length }, () => undefined);
  const steps = [
    ['hold', 5],
    ['hold', 8],
    ['settle', 2],
  ] as const;
  return steps.map(([operation, cost], i) => {
    const now = START + (i * MINUTE) / 2;
    const parts = rules.map((rule, n) => ({ limit: limitOf(rule), key: `rule ${n}`, cost, at: 0 }));
    const first = { limit: limitOf(record), key: 'hold 0', cost: KEEP, at: 7 };
    const call: Call = { operation, wait: 2 * MINUTE, parts: [first, ...parts] };
    return { which: 0, now, call, ...decideOn(entries, 0, now, call) };
  });
}

/** Runs the script once for each call, all within one script call, in which no key expires: see `replayScript`. */
export const holdScript = (source: string) => `
local function run(KEYS, ARGV)
${source}
end
${HEX}
local results, next = {}, 1
while next <= #ARGV do
  local args, size, picked = {}, tonumber(ARGV[next]), { KEYS[1 + ARGV[next + 1]] }
  for i = 1, size do args[i] = ARGV[next + 1 + i] end
  next = next + size + 2
  for i = ${HOLDS + 1}, #KEYS do picked[#picked + 1] = KEYS[i] end
  local observed = { run(picked, args) }
  for i = 1, #KEYS do
    observed[#observed + 1] = hex(redis.call('GET', KEYS[i]))
    redis.call('PERSIST', KEYS[i])
  end
  results[#results + 1] = observed
end
for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end
return results`;

/** The first difference between TypeScript and the script, if any. */
export async function holdDifference(
  redis: Redis,
  sha1: string,
  steps: readonly HoldStep[],
): Promise<string | undefined> {
  const names = steps[0]!.stored.map(() => uniqueName('hold'));
  const batches = steps.map(({ call }) => batchOf([call]));
  const args = steps.flatMap(({ which, now }, i) => {
    const line = written(batches[i]!, now).args;
    return [String(line.length), String(which), ...line];
  });
  const results = (await redis.evalsha(sha1, names.length, ...names, ...args)) as [
    unknown[],
    ...(string | null)[],
  ][];
  for (const [i, step] of steps.entries()) {
    const [reply, ...stored] = results[i]!;
    const [answer] = await answersOf(batches[i]!, reply);
    const [ours, theirs] = [plain(step), plain({ answer: answer!, stored })];
    if (ours !== theirs) {
      return `step ${i}, ${step.call.operation} of hold ${step.which}: TypeScript ${ours}, Lua ${theirs}`;
    }
  }
  return undefined;
}

/** As text, independent of the order of properties. Nothing is stored as null or left out. */
const plain = ({ answer, stored }: Pick<HoldStep, 'answer' | 'stored'>): string => {
  const parts = answer.parts.map(({ remaining, wait, reset, at, override, trace }) => {
    const { parameters, before, after, queue, blockedUntil } = trace ?? {};
    return { remaining, wait, reset, at, override, parameters, before, after, queue, blockedUntil };
  });
  return JSON.stringify([answer.allowed, answer.wait, parts, stored]);
};
