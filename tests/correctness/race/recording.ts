import type { Answer, Call } from '../../../packages/core/src/call/call.js';
import type { Store } from '../../../packages/core/src/index.js';

/**
 * A store that tells what it was asked and what it answered, undefined when it did not: limiters do not tell the server's moments.
 * What does not answer is an error to who asks, for this store has no health to go by.
 */
export const recording = (store: Store, heard: (call: Call, answer: Answer | undefined) => void): Store => ({
  name: store.name,
  remote: store.remote,
  slotted: store.slotted,
  clock: store.clock,
  async decide(call, asked) {
    try {
      const answer = await store.decide(call, asked);
      heard(call, answer);
      return answer;
    } catch (error) {
      heard(call, undefined);
      throw error;
    }
  },
  listen: (key, granted) => store.listen(key, granted),
  rate: (change, asked) => store.rate(change, asked),
  close: () => store.close(),
});
