import { setTimeout as sleep } from 'node:timers/promises';
import {
  concurrency,
  fixedWindow,
  isStoreUnavailableError,
  type Policy,
  type Store,
  slidingLog,
  slidingWindow,
} from '../../../../packages/core/src/index.js';
import {
  type Hold,
  isBudgetExceededError,
  isHoldInUseError,
  isHoldLapsedError,
  meter,
  meterStream,
} from '../../../../packages/meter/src/index.js';
import type { Random } from '../../../support/random.js';
import type { Rule } from './judge-of-holds.js';

/** The time to live of all holds, µs. */
export const TTL = 1_000_000;
const WINDOW = 750_000;

/** The promise of each axis. */
export const RULES: Readonly<Record<string, Rule>> = {
  usd: { limit: 400, kind: 'whole' },
  running: { limit: 9, kind: 'running' },
  log: { limit: 100, kind: 'sliding', window: WINDOW },
  slots: { limit: 100, kind: 'sliding', window: WINDOW },
};

/** µs for which the callers spend the same budget of dollars. */
const PERIOD = 1_000_000;

interface Who {
  readonly tenant: string;
  readonly user: string;
}

/** The meters of one process: a budget of dollars for two scopes, which is spent once, and two of tokens, which come back. */
export function metersOf(store: Store) {
  const window = WINDOW / 1000;
  const common = { store, ttl: TTL / 1000, deadline: '10s' } as const;
  const { usd, running, log, slots } = RULES as Record<string, Rule>;
  const tokens = (axis: 'log' | 'slots', policy: Policy) =>
    meter({ name: axis, axes: { [axis]: policy }, ...common });
  return {
    usd: meter({
      name: 'money',
      axes: {
        usd: fixedWindow({ limit: usd!.limit, window: '1h' }),
        running: concurrency({ limit: running!.limit }),
      },
      scopes: ({ tenant, user }: Who) => [tenant, { key: `${tenant}-${user}`, axes: ['usd'] }],
      ...common,
    }),
    log: tokens('log', slidingLog({ limit: log!.limit, window })),
    slots: tokens('slots', slidingWindow({ limit: slots!.limit, window, slots: 5 })),
  };
}

type Meters = ReturnType<typeof metersOf>;

/** Random holds of one process: `inFlight` at the same time, until `isOver`. */
export async function streams(
  meters: Meters,
  random: Random,
  inFlight: number,
  isOver: () => boolean,
): Promise<void> {
  const one = async () => {
    while (!isOver()) await stream(meters, random);
  };
  await Promise.all(Array.from({ length: inFlight }, one));
}

/** Repeats a call until the store has answered it. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreUnavailableError(error)) throw error;
      await sleep(10);
    }
  }
}

async function stream(meters: Meters, random: Random): Promise<void> {
  const axis = (['usd', 'usd', 'log', 'slots'] as const)[random(4)]!;
  const amount = 1 + random(random(4) === 0 ? 40 : 8);
  // Ids of other callers are refused.
  const id = random(8) === 0 ? `shared ${random(5)}` : crypto.randomUUID();
  const options = { id, lapse: random(2) === 0 ? 'keep' : 'refund' } as const;
  const tenant = `t${Math.floor((Date.now() * 1000) / PERIOD)}`;
  try {
    const hold = await patiently<Hold>(() =>
      axis === 'usd'
        ? meters.usd.hold({ tenant, user: `u${random(2)}` }, { usd: amount }, options)
        : meters[axis].hold('k', { [axis]: amount }, options),
    );
    if (random(3) === 0) await streamChunks(hold, axis, amount, random);
    else await streamByHand(hold, axis, random);
  } catch (error) {
    // A process that was slow for two times to live finds its hold forgotten.
    if (!isBudgetExceededError(error) && !isHoldInUseError(error) && !isHoldLapsedError(error)) throw error;
    await sleep(random(15));
  }
}

async function streamByHand(hold: Hold, axis: string, random: Random): Promise<void> {
  for (let step = random(6); step > 0; step -= 1) {
    await sleep(random(25));
    await patiently(() => (random(3) === 0 ? hold.renew() : hold.more({ [axis]: 1 + random(6) })));
  }
  const end = random(8);
  if (end === 0) return; // its caller forgets it
  if (end === 1) return patiently(() => hold.cancel());
  const used = random(hold.amounts[axis]! + 1);
  await Promise.all([1, 2].map(() => patiently(() => hold.settle({ [axis]: used }))));
}

async function streamChunks(hold: Hold, axis: string, covered: number, random: Random): Promise<void> {
  const length = 1 + random(40);
  async function* chunks() {
    for (let i = 0; i < length; i += 1) {
      if (random(8) === 0) await sleep(random(20));
      yield 'word ';
    }
  }
  const leavesAfter = random(4) === 0 ? random(length) : length;
  let read = 0;
  const options = { covered, step: 4, count: () => 1, amountsOf: (tokens: number) => ({ [axis]: tokens }) };
  try {
    for await (const _ of meterStream(hold, chunks(), options)) {
      read += 1;
      if (read > leavesAfter) break;
    }
  } catch (error) {
    if (!isStoreUnavailableError(error)) throw error;
    await patiently(() => hold.settle({ [axis]: read }));
  }
}
