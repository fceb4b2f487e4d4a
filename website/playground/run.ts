import {
  isLimiterClosedError,
  isRateLimitExceededError,
  ManualClock,
  memoryStore,
  type Policy,
  RateLimiter,
  type StateView,
} from '@sluice/core';

/** One caller's requests to one limiter. Times are ms from the start, in whole µs. */
export interface Scenario {
  readonly policy: Policy;
  readonly moments: readonly number[];
  readonly length: number;
  /** Undefined: a request does not wait. An empty object: as long as it takes. */
  readonly wait: { readonly timeout?: string | number } | undefined;
  /** How long a request holds its permit; only of `concurrency`. */
  readonly holds: number | undefined;
}

export interface Request {
  readonly at: number;
  outcome: 'passed' | 'denied' | 'waiting';
  /** When it passed. */
  went?: number;
  /** When it released its permit. */
  ended?: number;
  /** Permits left after it passed. */
  remaining?: number;
  /** Of a denied request: how long until it could pass. */
  retryAfter?: number;
}

/** What the key has at one moment. */
export interface Frame {
  readonly at: number;
  readonly remaining: number;
  /** Until every permit is back. */
  readonly reset: number;
  /** Requests that wait for their promised moment. */
  readonly booked: number;
}

export interface Run {
  readonly policy: Policy;
  /** How people picture a key of the policy. */
  readonly kind: StateView['kind'];
  readonly length: number;
  readonly limit: number;
  readonly window: number;
  readonly requests: readonly Request[];
  readonly frames: readonly Frame[];
}

const FRAMES = 300;
const KEY = 'caller';

/**
 * Makes the requests of a real limiter, in memory and on a clock of our own, and looks at the key 300 times.
 * @throws RangeError, TypeError of the core for a timeout that is not acceptable
 */
export async function run({ policy, moments, length, wait, holds }: Scenario): Promise<Run> {
  const clock = new ManualClock();
  const start = clock.now();
  const store = memoryStore({ clock, definitions: false });
  const limiter = new RateLimiter({ name: 'playground', policy, store });
  const requests: Request[] = moments.map((at) => ({ at, outcome: 'waiting' }));
  const frames: Frame[] = [];
  const now = () => (clock.now() - start) / 1000;

  const call = async (request: Request): Promise<void> => {
    const decision = wait === undefined ? await limiter.consume(KEY) : await limiter.acquire(KEY, wait);
    if (!decision.allowed) return deny(request, decision.retryAfter);
    Object.assign(request, { outcome: 'passed', went: now(), remaining: decision.remaining });
    if (holds === undefined) return;
    await clock.sleep(holds * 1000);
    request.ended = now();
    await limiter.release(decision);
  };
  let failure: unknown;
  const refused = (request: Request) => (error: unknown) => {
    if (isRateLimitExceededError(error)) deny(request, error.decision.retryAfter);
    else if (!isLimiterClosedError(error)) failure ??= error;
  };
  const look = async () => {
    const { debug } = await limiter.peek(KEY, { debug: true });
    const { before, booked } = debug!.policies[0]!;
    frames.push({
      at: now(),
      remaining: before.remaining,
      reset: before.resetAfter / 1000,
      booked: booked.length,
    });
  };

  const sleeps = wait !== undefined || holds !== undefined;
  const until = async (at: number) => {
    // Where nothing sleeps there is nothing to wake.
    if (sleeps) await clock.advance(at - now());
    else clock.set(start + Math.round(at * 1000));
  };
  const calls: Promise<void>[] = [];
  const { limit, window, debug } = await limiter.peek(KEY, { debug: true });
  const { kind } = debug!.policies[0]!.before.view;
  for (const step of stepsOf(requests, length)) {
    await until(step.at);
    if (step.request === undefined) await look();
    else {
      const made = call(step.request).catch(refused(step.request));
      calls.push(made);
      if (!sleeps) await made;
    }
  }
  const ended = Promise.all(calls);
  await limiter.close();
  await clock.advance('1h');
  await ended;
  await store.close();
  if (failure !== undefined) throw failure;
  return { policy, kind, length, limit, window, requests, frames };
}

function deny(request: Request, retryAfter: number): void {
  Object.assign(request, { outcome: 'denied', retryAfter });
}

/** Requests, and looks at the key between them, in order; a request comes before a look at the same moment. */
function stepsOf(requests: readonly Request[], length: number) {
  const looks = Array.from({ length: FRAMES + 1 }, (_, i) => ({
    at: Math.round((i * length) / FRAMES),
    request: undefined,
  }));
  return [...requests.map((request) => ({ at: request.at, request })), ...looks].sort((a, b) => a.at - b.at);
}
