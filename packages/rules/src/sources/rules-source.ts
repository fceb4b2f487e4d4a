import { createHash } from 'node:crypto';
import { SluiceError } from '@sluice/core';
import type { RulesDocument } from '../document/schema.js';

/** A version of rules in its source. */
export interface SourcedRules {
  /** Differs between versions. */
  readonly id: string;
  readonly text: string | RulesDocument;
  /** The text for callers outside the `rollout`. */
  readonly before?: string | undefined;
}

/** A source of rules. */
export interface RulesSource {
  /** The source in messages: `limits.yaml`. */
  readonly name: string;
  /** Equal for equal sources: two objects can read the same file. */
  readonly identity: unknown;
  /** The name of the file, for problems. */
  readonly file?: string | undefined;
  /** Interval of reads without a notice, ms. */
  readonly every: number;
  /** Does the source store the version before, which a `rollout` needs? */
  readonly keepsBefore?: boolean;
  /**
   * The present version; undefined if it is still the one with the id `known`.
   * @throws any error, preferably a `RulesSourceError`
   */
  read(known: string | undefined): Promise<SourcedRules | undefined>;
  /** Calls `changed` when there can be a new version. Returns a function that unsubscribes. */
  watch?(changed: () => void): () => void;
  /** Ends a pending read. */
  close?(): void;
}

/** Rules could not be read from their source. */
export class RulesSourceError extends SluiceError {
  readonly code = 'SLUICE_RULES_SOURCE';

  constructor(
    /** The source: `limits.yaml`. */
    readonly source: string,
    why: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(`rules of ${source}: ${why}`);
    if (options.cause !== undefined) this.cause = options.cause;
  }
}

export const isRulesSourceError = (error: unknown): error is RulesSourceError =>
  error instanceof Error && (error as Partial<RulesSourceError>).code === 'SLUICE_RULES_SOURCE';

export const sourceErrorOf = (source: string, error: unknown): RulesSourceError =>
  isRulesSourceError(error)
    ? error
    : new RulesSourceError(source, error instanceof Error ? error.message : String(error), { cause: error });

/** The id of a text, equal in every process. */
export const fingerprintOf = (text: string | RulesDocument): string =>
  createHash('sha256')
    .update(typeof text === 'string' ? text : JSON.stringify(text))
    .digest('hex')
    .slice(0, 12);
