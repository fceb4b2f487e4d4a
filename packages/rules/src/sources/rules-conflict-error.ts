import { SluiceError } from '@sluice/core';
import type { RulesVersion } from './version-list.js';

/** Another version was pushed before this one. */
export class RulesConflictError extends SluiceError {
  readonly code = 'SLUICE_RULES_CONFLICT';

  constructor(
    readonly source: string,
    /** The number of the version that the push should replace. */
    readonly replaces: number,
    /** The latest version. */
    readonly latest: RulesVersion | undefined,
  ) {
    const now =
      latest === undefined ? 'there is nothing' : `the latest is version ${latest.number} of ${latest.by}`;
    super(`rules of ${source}: ${now}, not version ${replaces} any more; nothing was changed`);
  }
}

export const isRulesConflictError = (error: unknown): error is RulesConflictError =>
  error instanceof Error && (error as Partial<RulesConflictError>).code === 'SLUICE_RULES_CONFLICT';
