import type { Clock } from '@sluice/core';

/** ms since 1970 on the clock of a store, so that tests can move it. */
export const nowOf = (clock: Clock): number => Math.floor(clock.now() / 1000);

/** How long a call may still wait, and what ends its waits at once. */
export interface WaitLimits {
  /** ms since 1970. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
}

/** Calls `late` when reading a body for the reason of a refusal has taken too long. @returns a function to call when it has been read */
export type LimitReading = (late: () => void) => () => void;
