import { setTimeout as sleep } from 'node:timers/promises';
import { fractionsFrom, TEST_SEED } from '../../support/random.js';
import { Calls, cameOf } from './calls.js';
import { Ledger } from './ledger.js';
import { type Limits, openLimits } from './limits.js';
import type { Order, Remains } from './messages.js';

// The program under test: at each order it opens stores, calls them, closes them and reports what remains. `soak.ts` bundles this file and
// starts it with --expose-gc.

const CALLERS = 24;
/** Time in which Redis must decide again for every limiter, ms. */
const RECOVERY = 30_000;
/** Time until idle timers have run, such as the timer that ends an idle connection, ms. */
const IDLE_MS = 2_500;
const SAMPLE_EACH = 15_000;

const fraction = fractionsFrom(TEST_SEED);
const accidents: string[] = [];
process.on('unhandledRejection', (reason) =>
  accidents.push(`unhandled rejection: ${(reason as Error)?.stack ?? reason}`),
);
process.on('uncaughtException', (error) => accidents.push(`uncaught exception: ${error.stack}`));
process.on('warning', (warning) => {
  if (warning.name !== 'SluiceWarning') accidents.push(`warning: ${warning.name}: ${warning.message}`);
});

const events = { degraded: 0, recovered: 0, storeError: 0 };

async function live(url: string, guestUrl: string, end: Promise<void>): Promise<Remains> {
  for (const name of ['degraded', 'recovered', 'storeError'] as const) events[name] = 0;
  accidents.length = 0;
  const ledger = new Ledger();
  const heaps: number[] = [];
  const sampling = setInterval(() => heaps.push(heapNow()), SAMPLE_EACH);
  const left = await called(openLimits(url, guestUrl), ledger, end);
  clearInterval(sampling);
  await sleep(IDLE_MS);
  return {
    ...left,
    heap: await heapAtRest(),
    resources: process.getActiveResourcesInfo().sort(),
    tallies: ledger.tallies,
    events: { ...events },
    heaps,
    wrong: [...ledger.wrongs, ...new Set(accidents)],
  };
}

async function called(limits: Limits, ledger: Ledger, end: Promise<void>) {
  listenTo(limits, ledger);
  await limits.shared.trySetRate({ rate: 20, interval: '300ms' }).catch(() => false); // if it fails, a caller sets the rate
  const calls = new Calls(limits, ledger);
  let over = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over) {
      await calls.one();
      await sleep(fraction() * 10);
    }
  });
  await end;
  await recovered(limits, ledger);
  over = true;
  calls.callOff();
  const clientListeners = await limits.close();
  await Promise.race([Promise.all(callers), sleep(10_000, undefined, { ref: false })]);
  return { clientListeners, signalListeners: calls.listeners, unsettled: ledger.unsettled() };
}

/** No store emits `degraded` twice in a row, or `recovered` without `degraded`. */
function listenTo({ stores }: Limits, ledger: Ledger): void {
  for (const store of stores) {
    let out = false;
    store.on('storeError', () => (events.storeError += 1));
    store.on('degraded', () => {
      events.degraded += 1;
      if (out) ledger.wrong('event', 'degraded twice');
      out = true;
    });
    store.on('recovered', () => {
      events.recovered += 1;
      if (!out) ledger.wrong('event', 'recovered twice');
      out = false;
    });
  }
}

/** Redis decides again, for each limiter and for each of its stores. */
async function recovered({ rates, slots, guest }: Limits, ledger: Ledger): Promise<void> {
  const limits = [...rates, { limiter: slots, stand: 'local' as const }];
  const asks = limits.map(({ limiter, stand }) => async () => {
    return cameOf(await limiter.peek('after'), stand, false) === 'redis';
  });
  asks.push(async () => {
    const outcome = await guest.reset('after').catch((error: Error) => error.message);
    return /NOPERM|No permission|access/i.test(String(outcome));
  });
  for (const ask of asks) {
    const until = Date.now() + RECOVERY;
    while (!(await ask().catch(() => false))) {
      if (Date.now() > until) return ledger.wrong('recovery', 'Redis does not decide again');
      await sleep(20);
    }
  }
}

const MB = 1024 * 1024;

function heapNow(): number {
  globalThis.gc!();
  return process.memoryUsage().heapUsed / MB;
}

/** The least of several samples: objects may become garbage only after their finalizers have run. */
async function heapAtRest(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < 8; sample += 1) {
    least = Math.min(least, heapNow());
    await sleep(50);
  }
  return least;
}

let ended = () => {};
process.on('message', async (message: Order) => {
  if (message.order === 'end') return ended();
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  process.send!(await live(message.url, message.guestUrl, end));
});
process.send!('ready');
