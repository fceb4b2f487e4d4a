/**
 * - `consume`: take the permits now, if every part has them;
 * - `acquire`: the same, or book them for the first moment, at most `wait` away, at which every part has them;
 * - `peek`: the answer of `consume`, without taking anything; only what the clock or the policy changed is written;
 * - `charge`: take them as a penalty, even if fewer are left;
 * - `refund`: give back what was taken or booked at the moments `at`;
 * - `renew`: begin the lease of the holder or waiting call `at` again;
 * - `block`: deny all calls for `wait` µs from now, 0 to end that;
 * - `extend-block`: the same, but a block that ends later stays;
 * - `override`: use other parameters than the rule's for `wait` µs from now, 0 to end that;
 * - `hold`: hold at least these amounts from now on, or change nothing; `settle`: count what was used instead; see `engine/hold.ts`;
 * - `reset`: forget what was taken, booked and blocked, and the denials that an escalation has counted.
 */
export type Operation =
  | 'consume'
  | 'acquire'
  | 'peek'
  | 'charge'
  | 'refund'
  | 'renew'
  | 'block'
  | 'extend-block'
  | 'override'
  | 'hold'
  | 'settle'
  | 'reset';

/** Sent in place of the id of an admitted call: all calls that wait for the key should poll again. */
export const EVERYONE = -1;
