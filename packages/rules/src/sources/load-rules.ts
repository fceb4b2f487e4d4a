import type { Duration } from '@sluice/core';
import { announceRules, describe, LAYOUT, RULES, toMicros } from '@sluice/core/internal';
import { isRulesError } from '../document/problems.js';
import type { RulesDocument } from '../document/schema.js';
import { Rules } from '../live/rules.js';
import { checkRulesOptions, type RulesOptions } from '../live/rules-options.js';
import type { RuleSet } from '../rule-set.js';
import { FileSource } from './file-source.js';
import { Follower } from './follower.js';
import { FunctionSource, type RulesFunction } from './function-source.js';
import { isRulesSourceError, type RulesSource, type SourcedRules, sourceErrorOf } from './rules-source.js';
import type { StoredRules } from './stored-rules.js';
import { fallbackVersion, type ReadyVersion, readyVersion } from './versions.js';

export interface LoadRulesOptions extends RulesOptions {
  /**
   * How often the source is read without a notice of a change; at least 100 ms. Default: 5 s for a file, 30 s for Redis and for a function.
   */
  readonly every?: Duration | undefined;
  /** The rules until the source has a valid version. Without a fallback, `loadRules` rejects if the source has none at the start. */
  readonly fallback?: string | RulesDocument | RuleSet | undefined;
}

/** Rules that follow their source. */
export class LoadedRules extends Rules {
  /** The source of the rules. */
  readonly source: string;
  readonly #follower: Follower;
  readonly #announced: ReturnType<typeof announceRules>;
  #fingerprint: string | undefined;
  #refusal: Error | undefined;
  #unreadable: Error | undefined;

  /** @internal */
  constructor(source: RulesSource, first: Found, every: number, options: RulesOptions) {
    super(first.version.set, options, source.identity);
    const { version, problem } = first;
    this.source = source.name;
    this.#fingerprint = version.fingerprint;
    if (problem !== undefined && isRulesSourceError(problem)) this.#unreadable = problem;
    else this.#refusal = problem;
    try {
      if (version.before !== undefined) this.replace(version.set, version.before);
    } catch (error) {
      void super.close();
      throw error;
    }
    this.#announced = announceRules(this.store.fleet, LAYOUT, () => ({
      name: this.name,
      source: this.source,
      version: this.version,
      fingerprint: this.#fingerprint,
      problem: this.problem?.message.slice(0, 1_000),
    }));
    this.#publish();
    this.#follower = new Follower(source, first.id, every, {
      found: (found) => this.#found(source, found),
      unchanged: () => this.#unchanged(),
      failed: (error) => this.#failed(sourceErrorOf(source.name, error)),
    });
  }

  /** The `version` in the latest active document. */
  get version(): string | number | undefined {
    return this.ruleSet.version;
  }

  /** The reason why a later version is not active: a `RulesError`, or a `RulesSourceError` while the source cannot be read. */
  get problem(): Error | undefined {
    return this.#unreadable ?? this.#refusal;
  }

  /** Reads the source now. Resolves when its version is active or refused; see `problem`. Never rejects. */
  reload(): Promise<void> {
    return this.#follower.check();
  }

  /** Ends watching, the limiters, and the store if none was passed. */
  override async close(): Promise<void> {
    this.#follower.close();
    this.#announced.end();
    await super.close();
  }

  #found(source: RulesSource, found: SourcedRules): void {
    this.#unreadable = undefined;
    this.#refusal = undefined;
    try {
      const { set, before, fingerprint } = readyVersion(source, found);
      this.replace(set, before);
      this.#fingerprint = fingerprint;
    } catch (error) {
      this.#refusal = error as Error;
    }
    this.#publish();
  }

  #unchanged(): void {
    if (this.#unreadable === undefined) return;
    this.#unreadable = undefined;
    this.#publish();
  }

  #failed(error: Error): void {
    if (this.#unreadable?.message === error.message) return;
    this.#unreadable = error;
    this.#publish();
  }

  #publish(): void {
    this.#announced.changed();
    if (!RULES.hasSubscribers) return;
    const { name, source, version, problem } = this;
    const refused = problem === this.#refusal ? 'refused' : 'unreadable';
    RULES.publish({
      rules: name,
      source,
      result: problem === undefined ? 'loaded' : refused,
      version,
      fingerprint: this.#fingerprint,
      error: problem,
    });
  }
}

/** The state of a source at the start. */
interface Found {
  readonly version: ReadyVersion;
  /** The version of the source, also if it is refused. */
  readonly id: string | undefined;
  readonly problem: Error | undefined;
}

/**
 * Loads rules, and follows each change of their source. An invalid version is refused as a whole: the last valid version stays active,
 * and the diagnostics channel `sluice:rules` says why.
 * @param source the path or URL of a file, `storedRules(store)`, or a function that returns a text or a document
 * @throws RulesError if the first version has problems, RulesSourceError if the source cannot be read (both not with a `fallback`);
 *   RangeError, TypeError naming an invalid option
 */
export async function loadRules(
  source: string | URL | StoredRules | RulesFunction,
  options: LoadRulesOptions = {},
): Promise<LoadedRules> {
  checkRulesOptions(options, 'loadRules', ['every', 'fallback']);
  const { every: given, fallback, ...others } = options;
  const from = sourceOf(source);
  const every = given === undefined ? from.every : toMicros('loadRules: every', given, 100_000) / 1000;
  const spare = fallback === undefined ? undefined : fallbackVersion(fallback);
  const first = await firstOf(from, spare);
  try {
    return new LoadedRules(from, first, every, others);
  } catch (error) {
    // A Redis Cluster refuses some valid documents. An invalid option throws again.
    if (spare === undefined || first.version === spare) throw error;
    return new LoadedRules(from, { version: spare, id: first.id, problem: error as Error }, every, others);
  }
}

async function firstOf(source: RulesSource, fallback: ReadyVersion | undefined): Promise<Found> {
  let id: string | undefined;
  try {
    const found = (await source.read(undefined))!;
    id = found.id;
    return { version: readyVersion(source, found), id, problem: undefined };
  } catch (error) {
    const problem = isRulesError(error) ? error : sourceErrorOf(source.name, error);
    if (fallback === undefined) throw problem;
    return { version: fallback, id, problem };
  }
}

function sourceOf(source: string | URL | StoredRules | RulesFunction): RulesSource {
  // Not instanceof: a program may load this package twice, as ESM and as CJS.
  if (typeof (source as Partial<StoredRules>)?.read === 'function') return source as StoredRules;
  if (typeof source === 'function') return new FunctionSource(source);
  const isFile =
    source instanceof URL ? source.protocol === 'file:' : typeof source === 'string' && source !== '';
  if (isFile) return new FileSource(source as string | URL);
  throw new TypeError(
    `loadRules takes the path of a file, storedRules(store), or a function that returns rules, not ${describe(source)}`,
  );
}
