import { ANY, NEVER, type State } from '../algorithm.js';
import {
  type ConcurrencyOptions,
  concurrency,
  concurrencyAlgorithm,
  concurrencyKind,
} from './concurrency.js';

const { normalize, wait, take, refund, usage } = concurrencyAlgorithm;
const acquireWait = concurrencyAlgorithm.booking!.acquireWait!;
const { last, join, renew, holderStatus, remainingWait, promote } = concurrencyAlgorithm.holders!;
const START = 1_700_000_000_000_000;
const sec = (seconds: number) => START + seconds * 1e6;

/** One key, decided as `decide.ts` does: each step first repairs the state and admits waiting calls. */
class Room {
  state: State | undefined;
  now = START;
  granted: number[] = [];
  readonly p: readonly number[];

  constructor(options: Partial<ConcurrencyOptions> = {}, state?: State) {
    this.p = concurrencyKind.compile(concurrency({ limit: 2, lease: '10s', ...options })).parameters;
    this.state = state;
  }
  at(now: number): this {
    this.now = now;
    if (this.state !== undefined && this.state[0]! <= now) this.state = undefined;
    if (this.state !== undefined) this.state = normalize(this.p, this.state, now);
    return this.letIn();
  }
  letIn(): this {
    if (this.state === undefined) return this;
    const { state, granted } = promote(this.p, this.state, this.now);
    this.state = state;
    this.granted.push(...granted);
    return this;
  }
  wait = (cost = 1) => acquireWait(this.p, this.state, this.now, cost) / 1e6;
  estimate = (cost = 1) => wait(this.p, this.state, this.now, cost) / 1e6;
  usage = () => usage(this.p, this.state, this.now);
  holderStatus = (id: number) => (this.state === undefined ? -1 : holderStatus(this.state, id));
  remainingWait = (id: number) => remainingWait(this.p, this.state!, this.now, id).wait / 1e6;
  take(cost = 1): number {
    expect(this.wait(cost)).toBe(0);
    this.state = take(this.p, this.state, this.now, cost);
    return last(this.state);
  }
  join(cost = 1): number {
    this.state = join(this.p, this.state, this.now, cost);
    return last(this.state);
  }
  renew(id: number): void {
    this.state = renew(this.p, this.state!, this.now, id);
  }
  refund(id: number): this {
    this.state = refund(this.p, this.state!, this.now, 1, id);
    return this.letIn();
  }
}

test('with limit 2, a third call passes after a release, or exactly when the first lease ends', () => {
  const room = new Room();
  room.at(sec(0)).take();
  const b = room.at(sec(3)).take();
  expect(room.state).toEqual([sec(13), sec(3), 2, sec(0), sec(10), 1, sec(3), sec(13), 1]);
  expect(room.at(sec(4)).usage()).toEqual({ remaining: 0, reset: 9e6 });
  expect([room.wait(1), room.wait(2), room.wait(3) * 1e6, room.wait(0)]).toEqual([6, 9, NEVER, 0]);
  expect(new Room({}, room.state).refund(b).wait()).toBe(0);
  expect(room.at(sec(10) - 1).wait()).toBe(1e-6); // the first holder never released: its process died
  room.at(sec(10)).take();
  expect(room.usage()).toEqual({ remaining: 0, reset: 10e6 });
});

test('a denial estimates its wait from how long permits have been held, up to the lease', () => {
  const room = new Room({ limit: 2, lease: '60s' });
  const a = room.at(sec(0)).take();
  room.take();
  expect(room.estimate()).toBe(60); // no time has passed: there is no estimate
  // Both have worked for 0.3 s, so one of them is done in about 0.15 s, and both in 0.3 s.
  expect([room.at(sec(0.3)).estimate(1), room.estimate(2), room.wait(1)]).toEqual([0.15, 0.3, 59.7]);
  room.renew(a);
  expect(room.estimate(1)).toBe(0.15);
  room.join();
  expect(room.estimate(1)).toBe(0.3); // behind the waiting call
  expect([room.estimate(3) * 1e6, room.estimate(0)]).toEqual([NEVER, 0]);
  expect(room.at(sec(59)).estimate(1)).toBe(1.3); // two permits in 59 s would be later than the leases end
});

test('renewing restarts a lease; an ended lease cannot be renewed', () => {
  const room = new Room({ limit: 1 });
  const a = room.at(sec(0)).take();
  room.at(sec(7)).renew(a);
  expect(room.at(sec(16)).wait()).toBe(1);
  expect(room.holderStatus(a)).toBe(1);
  const ended = new Room({ limit: 1 }, room.state);
  ended.at(sec(16)).join();
  ended.now = sec(17); // without admitting a call
  ended.renew(a);
  expect(ended.holderStatus(a)).toBe(-1);
  expect(room.at(sec(17)).state).toBeUndefined();
});

test('waiting calls are served in order: small costs do not overtake a large one', () => {
  const room = new Room({ limit: 3 });
  const a = room.at(sec(0)).take(2);
  const [large, small, more] = [room.at(sec(1)).join(2), room.join(1), room.join(3)];
  expect(room.wait()).toBeGreaterThan(0); // one permit is free, but the waiting calls come first
  expect(room.usage().remaining).toBe(0);
  expect(room.at(sec(2)).refund(a).granted).toEqual([large, small]);
  expect([a, large, small, more].map(room.holderStatus)).toEqual([-1, 1, 1, 0]);
  expect(room.state!.slice(0, 9)).toEqual([sec(12), more, 2, large, sec(12), 2, small, sec(12), 1]);
});

test('when a waiting call cancels, the calls behind it move up at once', () => {
  const room = new Room({ limit: 3 });
  room.at(sec(0)).take(2);
  const [large, small] = [room.join(2), room.join(1)];
  expect(room.granted).toEqual([]);
  expect(room.at(sec(1)).refund(large).granted).toEqual([small]);
});

test('without a release, waiting calls are admitted as leases end', () => {
  const room = new Room({ limit: 1 });
  room.at(sec(0)).take();
  const [b, c] = [room.at(sec(4)).join(), room.at(sec(5)).join()];
  // b is admitted at 10 and holds until 20. c does not renew after 5: dropped at 15, or admitted at 20 if it renews.
  expect([room.remainingWait(b), room.remainingWait(c), room.wait()]).toEqual([5, 15, 15]);
  expect(room.at(sec(10) - 1).granted).toEqual([]);
  expect(room.at(sec(10)).granted).toEqual([b]);
  room.at(sec(14)).renew(c);
  expect([room.remainingWait(c), room.wait()]).toEqual([6, 16]); // c would hold from 20 to 30
  expect(room.at(sec(20)).granted).toEqual([b, c]); // b never used its permit: its lease ended like any other
});

test('a waiting call that does not renew within a lease is dropped', () => {
  const room = new Room({ limit: 1 });
  const a = room.at(sec(0)).take();
  const b = room.at(sec(1)).join();
  room.at(sec(9)).renew(a);
  expect(room.wait()).toBe(10); // b is dropped at 11, the lease of a ends at 19
  expect(room.at(sec(11)).holderStatus(b)).toBe(-1);
  expect(room.refund(a).granted).toEqual([]);
});

test('a call that finds the queue full leaves the state unchanged', () => {
  const room = new Room({ limit: 1, queue: 1 });
  room.at(sec(0)).take();
  room.join();
  const { state } = room;
  room.join();
  expect(room.state).toBe(state);
  const withoutQueue = new Room({ limit: 1, queue: 0 }, state);
  withoutQueue.join();
  expect(withoutQueue.state).toBe(state);
});

test('a release returns all permits of its id once; an unknown id or a reward changes nothing', () => {
  const room = new Room({ limit: 5 });
  const a = room.at(sec(0)).take(4);
  const { state } = room;
  for (const id of [a + 1, ANY]) expect(refund(room.p, state!, sec(1), 4, id)).toBe(state);
  expect(promote(room.p, state!, sec(1))).toEqual({ state, granted: [] });
  expect(promote(room.p, state!, sec(1)).state).toBe(state);
  expect(room.at(sec(1)).refund(a).state).toBeUndefined();
});

test('an id is used once, even within one µs and after all calls were released', () => {
  const room = new Room();
  const a = room.take();
  expect(room.refund(a).state).toEqual([START + 1, START, 0]);
  const b = room.take();
  expect(b).toBe(START + 1);
  expect(room.refund(a).holderStatus(b)).toBe(1); // a second release does not release the next holder
  expect(room.at(START + 2).refund(b).state).toBeUndefined();
});

test('after the clock passes back an hour, permits are held for one lease at most, and ids still grow', () => {
  const room = new Room({ limit: 1 });
  const a = room.at(sec(3600)).take();
  const b = room.join();
  expect(room.at(sec(0)).wait()).toBe(10);
  expect(normalize(room.p, room.state!, sec(0))).toBe(room.state);
  expect(room.join()).toBe(b + 1);
  expect(room.refund(a).granted).toEqual([b]);
  expect(room.at(sec(10)).state).toBeUndefined();
});

test('a changed limit applies to the stored state', () => {
  const room = new Room({ limit: 4 });
  const [a, b, large] = [room.at(sec(0)).take(2), room.take(2), room.join(4)];
  const lower = new Room({ limit: 2, lease: '5s' }, room.state).at(sec(1));
  expect(lower.holderStatus(large)).toBe(-1); // could never pass, and would block all others
  expect(lower.usage()).toEqual({ remaining: 0, reset: 5e6 });
  expect(lower.refund(a).wait(1)).toBe(5); // the other holder keeps its permits
  expect(lower.refund(b).wait(2)).toBe(0);
  const higher = new Room({ limit: 8, lease: '20s' }, room.state).at(sec(1));
  expect(higher.granted).toEqual([large]);
});

test('a take above the limit, up to 2^53-1, is stored and ends with its lease', () => {
  const { p } = new Room();
  const most = Number.MAX_SAFE_INTEGER;
  const state = take(p, take(p, take(p, undefined, START, 1), START, most), START, most);
  expect([5, 8, 11].map((at) => state[at])).toEqual([1, most - 1, 0]);
  expect(usage(p, state, START)).toEqual({ remaining: 0, reset: 10e6 });
  expect(acquireWait(p, state, START, 2)).toBe(10e6);
});
