import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DegradedEvent,
  fixedWindow,
  type Policy,
  RateLimiter,
  type RateLimiterOptions,
  type RecoveredEvent,
  type RedisStore,
  type StoreErrorEvent,
  type UnavailableReason,
} from '../../packages/core/src/index.js';
import { uniqueName } from '../support/redis-url.js';
import { Callers } from './callers.js';
import { type FaultRow, record } from './table.js';

/** Something that makes a store unavailable from its beginning to its end. */
export interface Ordeal extends Pick<FaultRow, 'group' | 'fault'> {
  readonly store: RedisStore;
  /** Several are asked together, of which the first has a limit of `LIMIT` or as given. Default: one. */
  readonly policies?: (limit: number) => Readonly<Record<string, Policy>>;
  /** Of all keys: a key on the node of a cluster that it is about. */
  readonly hashTag?: string;
  begin(): unknown;
  /** What holds while the store is known to be out. */
  meanwhile?(): unknown;
  end(): unknown;
  /** One of these is what callers are told. */
  readonly reasons: readonly UnavailableReason[];
  /** What the client says of its connection, where that is the reason. */
  readonly connectionError?: RegExp;
  /** Has what was counted before been lost when it is over? Default false. */
  readonly forgets?: boolean;
  /** May calls that were not answered have been counted, each once? Default false: none of them has reached the server's data. */
  readonly mayCount?: boolean;
  /** Is there no before: was the server never there? Default false. */
  readonly fromTheStart?: boolean;
}

const DEADLINE_MS = 100;
/** What a busy machine may add. */
const SLACK_MS = 900;
/** A tenth of this is what is promised; an answer that waited for the network would take the deadline. */
const KNOWN_MS = 50;
const SMALL = 3;

/**
 * Lives through a fault with a limiter for each failure policy on one store, and expects what every fault has in common: each caller is
 * answered by his policy and in time, also before the store is known to be out; nothing is counted twice or late; Redis decides
 * again by itself. What was measured is recorded.
 */
export async function endure(ordeal: Ordeal): Promise<void> {
  const { store, reasons, forgets = false, mayCount = false, fromTheStart = false } = ordeal;
  const options = (limit: number): Omit<RateLimiterOptions, 'name'> => ({
    policies: ordeal.policies?.(limit) ?? { only: fixedWindow({ limit, window: '1h' }) },
    store,
    deadline: DEADLINE_MS,
    ...(ordeal.hashTag === undefined ? {} : { hashTag: ordeal.hashTag }),
  });
  const callers = new Callers(options, reasons);
  const events = heard(store);

  if (!fromTheStart) await callers.consume('k');
  const before = fromTheStart ? 0 : await callers.counted('k');
  await ordeal.begin();

  const first: number[] = [];
  while (events.degraded.length === 0) {
    expect(first.length).toBeLessThan(100);
    // To a key of its own: so it is seen whether one was counted twice.
    first.push(await callers.ask(first.length, `first-${first.length}`));
    await sleep(0); // events are told between the calls
  }
  expect(Math.max(...first)).toBeLessThan(DEADLINE_MS + SLACK_MS);

  const known: number[] = [];
  while (known.length < 40) known.push(await callers.ask(known.length, 'known'));
  expect(median(known)).toBeLessThan(KNOWN_MS);
  await callers.refusesTheRest('known');
  await isHeldTo(
    SMALL,
    new RateLimiter({ ...options(SMALL), name: uniqueName('small') } as RateLimiterOptions),
  );
  await ordeal.meanwhile?.();

  await ordeal.end();
  const ended = performance.now();
  while (events.recovered.length === 0) {
    expect(performance.now() - ended).toBeLessThan(20_000);
    await callers.limiters.local.consume('after');
    await sleep(5);
  }
  const recovered = performance.now() - ended;

  expect(await callers.counted('k')).toBe(forgets ? 0 : before);
  let counted = 0;
  for (let i = 0; i < first.length; i += 1) {
    const times = await callers.counted(`first-${i}`);
    expect(times).toBeLessThanOrEqual(mayCount ? 1 : 0);
    counted += times;
  }
  expect(await callers.counted('known')).toBe(0);
  onceForEachChange(events, ordeal);
  record({
    group: ordeal.group,
    fault: ordeal.fault,
    seen: `\`${events.degraded[0]!.reason}\`: the failure policy`,
    first: Math.max(...first),
    known: median(known),
    counted: `${counted} of ${first.length} unanswered${forgets ? '; earlier counts are lost' : ''}`,
    recovered,
  });
}

interface Heard {
  readonly degraded: DegradedEvent[];
  readonly recovered: RecoveredEvent[];
  readonly errors: StoreErrorEvent[];
}

function heard(store: RedisStore): Heard {
  const events: Heard = { degraded: [], recovered: [], errors: [] };
  store.on('degraded', (event) => events.degraded.push(event));
  store.on('recovered', (event) => events.recovered.push(event));
  store.on('storeError', (event) => events.errors.push(event));
  return events;
}

/** And not for each call. */
function onceForEachChange(
  { degraded, recovered, errors }: Heard,
  { reasons, connectionError }: Ordeal,
): void {
  expect([degraded.length, recovered.length]).toEqual([1, 1]);
  const possible: UnavailableReason[] = [...reasons, 'timeout']; // a busy machine may be late
  const last = new Map<string | undefined, UnavailableReason>();
  for (const { node, reason } of errors) {
    expect(reason).not.toBe(last.get(node));
    expect(possible).toContain(reason);
    last.set(node, reason as UnavailableReason);
  }
  expect(errors.some(({ reason }) => reasons.includes(reason as UnavailableReason))).toBe(true);
  expect(possible).toContain(degraded[0]!.reason);
  if (connectionError !== undefined) expect(String(degraded[0]!.connectionError)).toMatch(connectionError);
}

/** Counted by this process alone, since the failure policy is the default. */
async function isHeldTo(limit: number, limiter: RateLimiter): Promise<void> {
  let passed = 0;
  for (let call = 0; call < 2 * limit; call += 1) if ((await limiter.consume('k')).allowed) passed += 1;
  expect(passed).toBe(limit);
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
