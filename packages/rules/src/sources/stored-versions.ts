import type { Store } from '@sluice/core';
import { isStoreRefusal, sharedTextScript } from '@sluice/core/http';
import { RulesSourceError, sourceErrorOf } from './rules-source.js';
import { type Push, parseList, type RulesVersion } from './version-list.js';

export type RunningStore = Store & Required<Pick<Store, 'run'>>;

export interface VersionList {
  /** As it is stored. */
  readonly stored: string;
  /** The latest first. */
  readonly versions: readonly RulesVersion[];
}

/** The most bytes of the list and of a text, which has at most 1,000,000 characters: what is longer is not even transferred. */
const MOST_OF_LIST = 1_000_000;
const MOST_OF_TEXT = 4_000_000;

/** ms until a subscription is tried again that failed, and that the server refused. */
const [PAUSE, REFUSAL_PAUSE] = [30_000, 600_000];

/** The versions of one document in Redis. Every error is a RulesSourceError. */
export class StoredVersions {
  /** For messages. */
  readonly name: string;

  constructor(
    private readonly store: RunningStore,
    /** Of the list. The texts are at `key:id`. */
    readonly key: string,
  ) {
    this.name = `redis ${key}`;
  }

  async list(): Promise<VersionList> {
    const stored = await this.#read(this.key, MOST_OF_LIST);
    try {
      return { stored, versions: parseList(stored) };
    } catch (error) {
      throw sourceErrorOf(this.name, error);
    }
  }

  /** @returns undefined if the text is not kept */
  async text({ id }: RulesVersion): Promise<string | undefined> {
    return (await this.#read(this.#textKey(id), MOST_OF_TEXT)) || undefined;
  }

  /** Those whose texts are there: Redis may have evicted some. */
  async kept(versions: readonly RulesVersion[]): Promise<RulesVersion[]> {
    if (versions.length === 0) return [];
    const keys = versions.map(({ id }) => this.#textKey(id));
    const kept = String(await this.#run(keys, ['kept']));
    return versions.filter((_, i) => kept[i] === '1');
  }

  /** @returns undefined if the list is not `stored` any more: then nothing was changed */
  async push(
    { id, line, rest, dropped }: Push,
    stored: string,
    text: string,
  ): Promise<RulesVersion | undefined> {
    const keys = [this.key, ...[id, ...dropped.map((one) => one.id)].map((one) => this.#textKey(one))];
    return parseList(String(await this.#run(keys, ['push', stored, line, rest, text])))[0];
  }

  /** Calls `changed` after each push, and when messages may have been lost. */
  listen(changed: () => void): () => void {
    let end: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const begin = () =>
      this.store.listen(this.key, changed).then(
        (stop) => {
          if (ended) return stop();
          end = stop;
          changed(); // something may have been pushed before the subscription
        },
        (error) => {
          const pause = isStoreRefusal(error) ? REFUSAL_PAUSE : PAUSE;
          if (!ended) timer = setTimeout(() => void begin(), pause).unref();
        },
      );
    void begin();
    return () => {
      ended = true;
      clearTimeout(timer);
      end?.();
    };
  }

  readonly #textKey = (id: string): string => `${this.key}:${id}`;

  async #read(key: string, most: number): Promise<string> {
    const reply = await this.#run([key], ['read', String(most)]);
    if (!Array.isArray(reply)) return String(reply);
    throw new RulesSourceError(
      this.name,
      `the value of ${key} cannot be read: ${reply}, and at most ${most} are read`,
    );
  }

  async #run(keys: readonly string[], args: readonly string[]): Promise<unknown> {
    try {
      return await this.store.run(sharedTextScript, keys, args);
    } catch (error) {
      throw sourceErrorOf(this.name, error);
    }
  }
}
