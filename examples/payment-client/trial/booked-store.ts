import { AsyncLocalStorage } from 'node:async_hooks';
import type { Store } from '@sluice/core';

/** When a call was decided, and when it may start: µs of the store's clock. */
export interface Booked {
  now: number;
  at: number;
}

/** Calls made inside `bookings.run(booked, …)` are recorded in `booked`. */
export const bookings = new AsyncLocalStorage<Booked>();

/** The given store, which also records its answers in µs, because decisions have milliseconds only. */
export function noting(store: Store): Store {
  return {
    name: store.name,
    remote: store.remote,
    slotted: store.slotted,
    loading: store.loading,
    clock: store.clock,
    async decide(call, asked) {
      const answer = await store.decide(call, asked);
      const booked = bookings.getStore();
      if (booked !== undefined) Object.assign(booked, { now: answer.now, at: answer.now + answer.wait });
      return answer;
    },
    listen: (key, granted) => store.listen!(key, granted),
    rate: (change, asked) => store.rate!(change, asked),
    close: () => store.close(),
  };
}
