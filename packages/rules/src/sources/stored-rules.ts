import { hostname, userInfo } from 'node:os';
import type { Store } from '@sluice/core';
import { checkOptions, describe, LAYOUT } from '@sluice/core/internal';
import { NAME } from '../document/schema-parts.js';
import { parseRules } from '../parse-rules.js';
import type { RuleSet } from '../rule-set.js';
import { RulesConflictError } from './rules-conflict-error.js';
import { type RulesSource, RulesSourceError, type SourcedRules } from './rules-source.js';
import { StoredVersions } from './stored-versions.js';
import { pushOf, type RulesVersion, rollbackTarget, wholeVersion } from './version-list.js';

export interface StoredRulesOptions {
  /** The `name` of the document; default `rules`. */
  readonly name?: string | undefined;
}

export interface PushOptions {
  /** Author of the push; default: the user and the host of this process. */
  readonly by?: string | undefined;
  /** The number of the version that this push replaces; 0 for the first. If another version is the latest, nothing is changed. Default: any. */
  readonly replaces?: number | undefined;
}

/** Interval at which processes read without a message, ms: it bounds the effect of a lost message. */
const EVERY = 30_000;
/**
 * Rules in a store that processes share, with earlier versions. A source for `loadRules`, which the commands `sluice push`, `diff`, `rollback` and
 * `rules` also use.
 * @throws TypeError for another store, such as `memoryStore`, RangeError for an invalid name
 */
export const storedRules = (store: Store, options: StoredRulesOptions = {}): StoredRules =>
  new StoredRules(store, options);

/** The result of `storedRules`. */
export class StoredRules implements RulesSource {
  readonly name: string;
  readonly every = EVERY;
  readonly keepsBefore = true;
  /** The key of the list of versions. The texts are at `key:id`. */
  readonly key: string;
  /** Equal for all sources that read this key. */
  readonly identity: string;
  /** @internal The number of the version that `rollback` takes by default. */
  readonly rollbackTarget = rollbackTarget;
  readonly #stored: StoredVersions;

  constructor(store: Store, options: StoredRulesOptions) {
    checkOptions('storedRules', options, ['name']);
    const { name = 'rules' } = options;
    if (typeof name !== 'string' || !NAME.pattern.test(name))
      throw new RangeError(`storedRules: name ${NAME.error}, not ${describe(name)}`);
    if (store?.texts === undefined)
      throw new TypeError(
        `storedRules takes a redisStore(…), a sqliteStore(…), a postgresStore(…) or another store that processes share, not ${describe(store)}`,
      );
    this.#stored = new StoredVersions(store.texts, store.name, `sluice:${LAYOUT}:rules:{${name}}`);
    this.key = this.#stored.key;
    this.identity = this.key;
    this.name = this.#stored.name;
  }

  async read(known: string | undefined): Promise<SourcedRules | undefined> {
    // Ten pushes between the two reads can drop a text.
    for (let attempt = 1; ; attempt += 1) {
      const versions = await this.versions();
      const [latest] = versions;
      if (latest === undefined)
        throw new RulesSourceError(
          this.name,
          'nothing is there: push rules with sluice push FILE, or pass the name of your document to storedRules',
        );
      if (latest.id === known) return undefined;
      const base = versions.find(({ number }) => number === latest.before);
      const [text, before] = await Promise.all([latest, base].map((one) => one && this.#stored.text(one)));
      if (text !== undefined && (base === undefined || before !== undefined))
        return { id: latest.id, text, before };
      if (attempt === 3) {
        const { number } = text === undefined ? latest : base!;
        throw new RulesSourceError(this.name, `${goneOf(number)}: push the rules again, or roll back`);
      }
    }
  }

  watch(changed: () => void): () => void {
    return this.#stored.listen(changed);
  }

  /** The stored versions, the latest first; empty before the first push. @throws RulesSourceError */
  async versions(): Promise<readonly RulesVersion[]> {
    return (await this.#stored.list()).versions;
  }

  /** The versions whose texts are stored, the latest first: Redis can evict texts. @throws RulesSourceError */
  async kept(): Promise<readonly RulesVersion[]> {
    return this.#stored.kept((await this.#stored.list()).versions);
  }

  /** The text of a version. @throws RulesSourceError if it is not stored */
  async text(number: number): Promise<string> {
    const { versions } = await this.#stored.list();
    return this.#keptText(versions, number);
  }

  /**
   * Makes a text the latest version, which all processes then load.
   * @returns the new version
   * @throws RangeError, TypeError for an invalid `by`; RulesError for a text that is not acceptable; RulesConflictError if `replaces` is not the latest version; RulesSourceError
   */
  async push(text: string, options: PushOptions = {}): Promise<RulesVersion> {
    checkOptions('push', options, ['by', 'replaces']);
    return this.#push(text, parseRules(text), options);
  }

  /**
   * Makes the text of an earlier version the latest one again.
   * @param number default: the version before the latest one. During a rollout, and when it is complete, the version from before it
   * @throws as `push`
   */
  async rollback(number?: number, options: PushOptions = {}): Promise<RulesVersion> {
    checkOptions('rollback', options, ['by', 'replaces']);
    const { versions } = await this.#stored.list();
    const to = number ?? rollbackTarget(versions);
    if (to === undefined) throw new RulesSourceError(this.name, 'there is no earlier version');
    const text = await this.#keptText(versions, to);
    // The rollback was chosen for these versions.
    return this.#push(text, parseRules(text), { replaces: versions[0]?.number, ...options }, to);
  }

  async #push(
    text: string,
    set: RuleSet,
    { by = whoAmI(), replaces }: PushOptions,
    rollbackTo?: number,
  ): Promise<RulesVersion> {
    checkBy(by);
    for (;;) {
      const { stored, versions } = await this.#stored.list();
      const latest = versions[0]?.number ?? 0;
      if (replaces !== undefined && replaces !== latest)
        throw new RulesConflictError(this.name, replaces, versions[0]);
      const percent = set.document.rollout?.percent ?? 100;
      if (percent < 100) await this.#checkBase(wholeVersion(versions));
      const pushed = await this.#stored.push(pushOf(stored, set, { by, rollbackTo }), stored, text);
      // Otherwise another push came first: read again.
      if (pushed !== undefined) return pushed;
    }
  }

  /** Callers outside of a rollout need the text of the version before. */
  async #checkBase(base: RulesVersion | undefined): Promise<void> {
    if (base !== undefined && (await this.#stored.kept([base])).length > 0) return;
    const why = base === undefined ? 'there is none' : goneOf(base.number);
    throw new RulesSourceError(
      this.name,
      `a rollout needs a version before, and ${why}: push one without rollout first`,
    );
  }

  async #keptText(versions: readonly RulesVersion[], number: number): Promise<string> {
    const version = versions.find((one) => one.number === number);
    const text = version && (await this.#stored.text(version));
    if (text !== undefined) return text;
    const kept = (await this.#stored.kept(versions)).map((one) => one.number).join(', ');
    const why = version === undefined ? `there is no version ${number}` : goneOf(number);
    throw new RulesSourceError(this.name, `${why}${kept === '' ? '' : `; there are ${kept}`}`);
  }
}

/** The most characters of `by`. */
const MOST_OF_BY = 1_000;

const goneOf = (number: number): string =>
  `the text of version ${number} is gone: Redis has evicted it, or it was deleted`;

/** @throws TypeError, RangeError */
function checkBy(by: unknown): void {
  if (typeof by !== 'string') throw new TypeError(`push: by must be a text, not ${describe(by)}`);
  if (by.length > MOST_OF_BY)
    throw new RangeError(`push: by has ${by.length} characters, and at most ${MOST_OF_BY} are kept`);
}

function whoAmI(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname(); // a user without a name, as in some containers
  }
}
