import {
  isStoreConfigurationError,
  isStoreUnavailableError,
  type StoreConfigurationError,
  type StoreUnavailableError,
} from './errors.js';

/** Is the whole store out? A missing right (`NOPERM`) concerns one command or key, and the store decides the other calls. */
export const isOutage = (error: unknown): error is StoreUnavailableError =>
  isStoreUnavailableError(error) && error.reason !== 'NOPERM';

const REFUSED_ACCESS: readonly unknown[] = ['NOAUTH', 'WRONGPASS', 'NOPERM'];
/** Does the store refuse until a person mends its set-up, the login or the rights? Then a call that follows soon fails, too. */
export const isStoreRefusal = (error: unknown): error is StoreConfigurationError | StoreUnavailableError =>
  isStoreConfigurationError(error) ||
  (isStoreUnavailableError(error) && REFUSED_ACCESS.includes(error.reason));
