import type { DecisionMessage } from './messages.js';

/** Of a message: the notice board of the store that its limiter uses. A registered symbol: both copies of this package know it. */
export const BOARD = Symbol.for('sluice.board');

/** Identifies the store of a message; undefined for a store without a notice board. */
export const boardOf = (message: DecisionMessage): object | undefined =>
  (message as { readonly [BOARD]?: object | undefined })[BOARD];
