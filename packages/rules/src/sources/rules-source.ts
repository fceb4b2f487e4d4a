import { createHash } from 'node:crypto';
import { SluiceError } from '@sluice/core';
import type { RulesDocument } from '../document/schema.js';

/** A version of rules, as its source has it. */
export interface SourcedRules {
  /** Another one for another version. */
  readonly id: string;
  readonly text: string | RulesDocument;
  /** The text that callers outside of the `rollout` keep. */
  readonly before?: string | undefined;
}

/** Where rules come from. */
export interface RulesSource {
  /** For messages: `limits.yaml`. */
  readonly name: string;
  /** Equal for equal sources: two objects may read the same file. */
  readonly identity: unknown;
  /** The name of a file, for the messages of problems. */
  readonly file?: string | undefined;
  /** How often it is read without a notice, ms. */
  readonly every: number;
  /** Does it keep the version before, which a `rollout` needs? */
  readonly keepsBefore?: boolean;
  /**
   * The version as of now; undefined if it still is the one with the id `known`.
   * @throws every error; `RulesSourceError` says it best
   */
  read(known: string | undefined): Promise<SourcedRules | undefined>;
  /** Calls `changed` when there may be something new. Returns a function that ends it. */
  watch?(changed: () => void): () => void;
}

/** Rules could not be read where they come from. */
export class RulesSourceError extends SluiceError {
  readonly code = 'SLUICE_RULES_SOURCE';

  constructor(
    /** Where they come from: `limits.yaml`. */
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

/** Identifies a text: the same in every process. */
export const fingerprintOf = (text: string | RulesDocument): string =>
  createHash('sha256')
    .update(typeof text === 'string' ? text : JSON.stringify(text))
    .digest('hex')
    .slice(0, 12);
