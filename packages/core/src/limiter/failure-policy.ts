import type { FailureChoice, FallbackLimit } from '../call/limit.js';
import type { StoreUnavailableError, UnavailableReason } from '../errors.js';
import { checkOptions, describe } from '../options.js';

/** What a failure policy that is a function receives. */
export interface StoreFailure {
  /** Why there is no answer, in one word. */
  readonly reason: UnavailableReason;
  readonly error: StoreUnavailableError;
  /** The limiter's name. */
  readonly limiter: string;
}

/**
 * How a limiter decides while its store is out:
 * - `'local'`: this process counts for itself, with the whole limit, so that N processes together admit at most N times the limit;
 *   `{ local: { share } }` with that part of it, above 0 and at most 1 (1 / N keeps the whole fleet at the limit);
 * - `'allow'`: every call passes, and nothing is counted;
 * - `'deny'`: no call passes;
 * - a function that returns one of these words for each decision. The call rejects with what it throws, such as the `error` it received.
 */
export type FailurePolicy =
  | FailureChoice
  | { readonly local: { readonly share: number } }
  | ((failure: StoreFailure) => FailureChoice);

const CHOICES: readonly unknown[] = ['local', 'allow', 'deny'] satisfies FailureChoice[];

export interface CompiledFailurePolicy {
  readonly choose: FallbackLimit['choose'];
  /** The part of the limit that this process admits by itself. */
  readonly share: number;
}

/** @throws TypeError, RangeError when it is not a failure policy */
export function compileFailurePolicy(
  where: string,
  limiter: string,
  policy: FailurePolicy = 'local',
): CompiledFailurePolicy {
  if (typeof policy === 'function') {
    const choose = (error: StoreUnavailableError) => {
      const choice = policy({ reason: error.reason, error, limiter });
      if (CHOICES.includes(choice)) return choice;
      throw new TypeError(
        `${where}: the function failurePolicy returned ${describe(choice)}: it must return 'local', 'allow' or 'deny'`,
      );
    };
    return { choose, share: 1 };
  }
  if (typeof policy === 'object' && policy !== null) {
    checkOptions(`${where}: failurePolicy`, policy, ['local']);
    checkOptions(`${where}: failurePolicy.local`, policy.local, ['share']);
    const { share } = policy.local;
    if (typeof share !== 'number' || !(share > 0 && share <= 1)) {
      throw new RangeError(
        `${where}: failurePolicy.local.share must be above 0 and at most 1, such as 0.25 for four processes, not ${describe(share)}`,
      );
    }
    return { choose: () => 'local', share };
  }
  if (!CHOICES.includes(policy)) {
    throw new TypeError(
      `${where}: failurePolicy must be 'local', 'allow', 'deny', { local: { share } } or a function that returns one of these words, ` +
        `not ${describe(policy)}`,
    );
  }
  return { choose: () => policy, share: 1 };
}
