import type { Answer, Call } from '../../../packages/core/src/call/call.js';
import type { Store } from '../../../packages/core/src/index.js';

/**
 * A store that reports each call and its answer (undefined without one), because limiters do not report the server's times. A call
 * without an answer rejects, because this store has no circuit breaker.
 */
export const recording = (store: Store, heard: (call: Call, answer: Answer | undefined) => void): Store => ({
  name: store.name,
  remote: store.remote,
  slotted: store.slotted,
  clock: store.clock,
  async decide(call, caller) {
    try {
      const answer = await store.decide(call, caller);
      heard(call, answer);
      return answer;
    } catch (error) {
      heard(call, undefined);
      throw error;
    }
  },
  listen: (key, granted) => store.listen!(key, granted),
  rate: (change, caller) => store.rate!(change, caller),
  close: () => store.close(),
});
