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

/** A fault that makes a store unavailable from `begin` to `end`. */
export interface Outage extends Pick<FaultRow, 'group' | 'fault'> {
  readonly store: RedisStore;
  /** The policies of the limiters; the first has this limit. Default: one fixed window. */
  readonly policies?: (limit: number) => Readonly<Record<string, Policy>>;
  /** The hash tag of all keys: selects the cluster node of the fault. */
  readonly hashTag?: string;
  begin(): unknown;
  /** Runs while the store is known to be out. */
  meanwhile?(): unknown;
  end(): unknown;
  /** Callers get one of these. */
  readonly reasons: readonly UnavailableReason[];
  /** The client's connection error, if it is the reason. */
  readonly connectionError?: RegExp;
  /** Does the fault lose earlier counts? Default false. */
  readonly forgets?: boolean;
  /** May an unanswered call have been counted, once? Default false: none has reached the server's data. */
  readonly mayCount?: boolean;
  /** Was the server never there? Default false. */
  readonly fromTheStart?: boolean;
}

/** The default deadline for the table of the docs. In the suites five calls in a row must not miss it because Redis was stalled. */
const DEADLINE_MS = process.env.SLUICE_FAULT_ROWS === undefined ? 250 : 100;
/** Additional time of most calls on a busy machine, ms. */
const SLACK_MS = 900;
/** Additional time of a call during which the machine was stalled, ms. */
const STALL_MS = 5_000;
/** Ten times the promise. An answer that waited for the network would take the whole deadline. */
const KNOWN_MS = 50;
const SMALL = 3;

/**
 * Causes a fault for a limiter of each failure policy on one store, and checks the promises for every fault: the policy decides each call
 * and in time, also before the store is known to be out; nothing is counted twice or late; Redis decides again without help. Records the
 * measurements.
 */
export async function runOutage(outage: Outage): Promise<void> {
  const { store, reasons, forgets = false, mayCount = false, fromTheStart = false } = outage;
  const options = (limit: number): Omit<RateLimiterOptions, 'name'> => ({
    policies: outage.policies?.(limit) ?? { only: fixedWindow({ limit, window: '1h' }) },
    store,
    deadline: DEADLINE_MS,
    ...(outage.hashTag === undefined ? {} : { hashTag: outage.hashTag }),
  });
  const callers = new Callers(options, reasons);
  const events = heard(store);

  if (!fromTheStart) await callers.consume('k');
  const before = fromTheStart ? 0 : await callers.counted('k');
  await outage.begin();

  const first: number[] = [];
  while (events.degraded.length === 0) {
    expect(first.length).toBeLessThan(100);
    // Each has a key of its own, which shows whether it was counted twice.
    first.push(await callers.ask(first.length, `first-${first.length}`));
    await sleep(0); // events are emitted between the calls
  }
  expect(median(first)).toBeLessThan(DEADLINE_MS + SLACK_MS);
  expect(Math.max(...first)).toBeLessThan(DEADLINE_MS + STALL_MS);

  const known: number[] = [];
  while (known.length < 40) known.push(await callers.ask(known.length, 'known'));
  expect(median(known)).toBeLessThan(KNOWN_MS);
  await callers.refusesTheRest('known');
  await expectLimit(
    SMALL,
    new RateLimiter({ ...options(SMALL), name: uniqueName('small') } as RateLimiterOptions),
  );
  await outage.meanwhile?.();

  await outage.end();
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
  onceForEachChange(events, outage);
  record({
    group: outage.group,
    fault: outage.fault,
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

/** Events come once per change, not per call. */
function onceForEachChange(
  { degraded, recovered, errors }: Heard,
  { reasons, connectionError }: Outage,
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

/** This process counts alone: that is the default failure policy. */
async function expectLimit(limit: number, limiter: RateLimiter): Promise<void> {
  let passed = 0;
  for (let call = 0; call < 2 * limit; call += 1) if ((await limiter.consume('k')).allowed) passed += 1;
  expect(passed).toBe(limit);
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
