import type { Rule } from '../algorithms/algorithm.js';

/** What all keys of a limit have in common: one object for all its calls. */
export interface Limit {
  readonly rule: Rule;
  /** A storage key is `prefix`, the part's key, `suffix`. */
  readonly prefix: string;
  readonly suffix: string;
  /** For a rate that lives in the store: where. The rule has no parameters then. */
  readonly shared?: SharedKeys | undefined;
}

/** Where a shared rate is stored. */
export interface SharedKeys {
  /** For errors. */
  readonly name: string;
  /** The key of the rate. */
  readonly config: string;
  /** Where the state of this client is stored, if each client has the rate for itself. */
  readonly client: string;
}
