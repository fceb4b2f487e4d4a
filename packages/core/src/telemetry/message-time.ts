import { performance } from '#platform';

/** Messages that share a reading of the clock: reading it takes as long as everything else about a message. */
const SHARED = 64;

const resolved = Promise.resolve();
let now = 0;
let left = 0;
/** Is `forget` scheduled? */
let ends = false;

const forget = () => {
  left = 0;
  ends = false;
};

/** ms, as of `performance.now()`. Messages of the same code, which runs without a pause, share a reading. */
export function messageTime(): number {
  if (left === 0) {
    now = performance.now();
    left = SHARED;
    if (!ends) {
      ends = true;
      void resolved.then(forget);
    }
  }
  left -= 1;
  return now;
}
