/** One axis of one scope. */
export interface BudgetLine {
  readonly scope: string;
  readonly axis: string;
  readonly limit: number;
  /** What was settled, and what live holds with `lapse: 'keep'` have taken. */
  readonly used: number;
  /** What live holds with `lapse: 'refund'` hold, or what runs at once. */
  readonly held: number;
  /** `limit` less both: below 0 if more was used than was held. */
  readonly left: number;
  /** ms until nothing is used any more, if no other call comes. */
  readonly resetAfter: number;
  /** ms until more is left, if no other call comes. */
  readonly moreAfter: number;
  /** ms until the block of its key ends; undefined: the key is not blocked. */
  readonly blockedFor?: number | undefined;
  /** ms in which the limit comes back; undefined: it limits what runs at once. */
  readonly window: number | undefined;
}

/** The rest of a budget, after a call. */
export interface BudgetState {
  /** The name of the meter. */
  readonly meter: string;
  /** By axis: the least of all scopes; of a blocked one at most 0. */
  readonly left: Readonly<Record<string, number>>;
  readonly lines: readonly BudgetLine[];
}

/** What may be taken of an axis now: nothing of a blocked one. */
export const takable = ({ left, blockedFor }: BudgetLine): number =>
  blockedFor === undefined ? left : Math.min(0, left);
