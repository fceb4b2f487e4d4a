/** One difference between two versions of rules. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed';
  /** The rule, or `meter ai`. Undefined: the document. */
  readonly rule?: string;
  /** A limit, an axis, a field, or a plan's number: `perMinute`, `key`. Undefined: the whole rule. */
  readonly what?: string;
  readonly before?: string;
  readonly after?: string;
  /** The effect on counts. */
  readonly note?: string;
}

export const FROM_ZERO = 'its counts start from zero';
