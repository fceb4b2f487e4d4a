import { isStoreRefusal, type SharedTexts } from '@sluice/core/internal';
import { RulesSourceError, sourceErrorOf } from './rules-source.js';
import { type Push, parseList, type RulesVersion } from './version-list.js';

export interface VersionList {
  /** The list in its stored form. */
  readonly stored: string;
  /** The versions, the latest first. */
  readonly versions: readonly RulesVersion[];
}

/** The most bytes of the list and of a text. Longer values are not transferred. A text has at most 1,000,000 characters. */
const MOST_OF_LIST = 1_000_000;
const MOST_OF_TEXT = 4_000_000;

/** Pauses before a subscription is retried, ms: after a failure, and after a refusal by the server. */
const [PAUSE, REFUSAL_PAUSE] = [30_000, 600_000];

/** The versions of one document in a store. Every error is a RulesSourceError. */
export class StoredVersions {
  /** The source in messages. */
  readonly name: string;

  constructor(
    private readonly texts: SharedTexts,
    store: string,
    /** The key of the list. The texts are at `key:id`. */
    readonly key: string,
  ) {
    this.name = `${store} ${key}`;
  }

  async list(): Promise<VersionList> {
    const stored = await this.#read(this.key, MOST_OF_LIST);
    try {
      return { stored, versions: parseList(stored) };
    } catch (error) {
      throw sourceErrorOf(this.name, error);
    }
  }

  /** @returns undefined if the text is not stored */
  async text({ id }: RulesVersion): Promise<string | undefined> {
    return (await this.#read(this.#textKey(id), MOST_OF_TEXT)) || undefined;
  }

  /** The versions whose texts are stored: Redis can evict texts. */
  async kept(versions: readonly RulesVersion[]): Promise<RulesVersion[]> {
    if (versions.length === 0) return [];
    const kept = await this.#do((texts) => texts.kept(versions.map(({ id }) => this.#textKey(id))));
    return versions.filter((_, i) => kept[i]);
  }

  /** @returns undefined if the list is no longer `stored`: then nothing was changed */
  async push(
    { id, line, rest, dropped }: Push,
    stored: string,
    text: string,
  ): Promise<RulesVersion | undefined> {
    const { key } = this;
    const gone = dropped.map((one) => this.#textKey(one.id));
    const push = { list: key, read: stored, line, rest, key: this.#textKey(id), text, dropped: gone };
    return parseList(await this.#do((texts) => texts.push(push)))[0];
  }

  /** Calls `changed` after each push, and when messages can have been lost. */
  listen(changed: () => void): () => void {
    let end: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    let ended = false;
    const begin = () =>
      this.texts.follow(this.key, changed).then(
        (stop) => {
          if (ended) return stop();
          end = stop;
          changed(); // a version can have been pushed before the subscription
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
    const { text, problem } = await this.#do((texts) => texts.read(key, most));
    if (problem === undefined) return text;
    throw new RulesSourceError(
      this.name,
      `the value of ${key} cannot be read: ${problem}, and at most ${most} are read`,
    );
  }

  async #do<T>(work: (texts: SharedTexts) => Promise<T>): Promise<T> {
    try {
      return await work(this.texts);
    } catch (error) {
      throw sourceErrorOf(this.name, error);
    }
  }
}
