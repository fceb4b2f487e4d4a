import type { Answer } from '../decisions/call.js';
import type { StoreUnavailableError } from '../errors.js';
import type { Store } from '../stores/store.js';

/** An answer that came from another than the store that was asked, because that was out. */
export interface DegradedAnswer extends Answer {
  /** Who answered: what was taken there is renewed and given back there. */
  readonly by: Store;
  readonly error: StoreUnavailableError;
}

export const isDegraded = (answer: Answer): answer is DegradedAnswer =>
  (answer as Partial<DegradedAnswer>).by !== undefined;
