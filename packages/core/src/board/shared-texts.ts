import type { Script } from '../algorithms/algorithm.js';
import { sharedTextScript } from './shared-text.script.js';

/** The text of a key. */
export interface SharedText {
  /** '' without one. */
  readonly text: string;
  /** Why the text was not read: then it is empty. */
  readonly problem?: string | undefined;
}

/** A new version of a text. */
export interface TextPush {
  /** The key of the list of versions. */
  readonly list: string;
  /** The list as the caller has read it. */
  readonly read: string;
  /** The line of the new version, without its time. */
  readonly line: string;
  /** The lines that stay. */
  readonly rest: string;
  /** The key of the new text. */
  readonly key: string;
  readonly text: string;
  /** The keys of texts to delete. */
  readonly dropped: readonly string[];
}

/**
 * Texts that operators change for all processes, such as rules: a list of versions at one key, and each text at another.
 * @throws StoreUnavailableError, StoreConfigurationError from each method
 */
export interface SharedTexts {
  /** @param most bytes: a longer text is not transferred */
  read(key: string, most: number): Promise<SharedText>;
  /** Which of these keys have a text. */
  kept(keys: readonly string[]): Promise<readonly boolean[]>;
  /**
   * Puts a line with the time before the list, keeps the new text, and deletes others, all or nothing.
   * @returns the list as it is now; '' if it was not the one that the caller has read: then nothing was changed
   */
  push(push: TextPush): Promise<string>;
  /** Calls `changed` soon after each push, and when one can have been missed. Resolves, once it follows, to a function that ends it. */
  follow(list: string, changed: () => void): Promise<() => void>;
}

/** Runs a script whose keys share a slot, and connects first if necessary. @throws StoreUnavailableError, StoreConfigurationError */
export type RunKeys = (script: Script, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** Texts at keys of a Redis. The name of the list is also the channel of its pushes. */
export class RedisTexts implements SharedTexts {
  readonly #run: (keys: readonly string[], args: readonly string[]) => Promise<unknown>;

  constructor(
    run: RunKeys,
    readonly follow: SharedTexts['follow'],
  ) {
    this.#run = (keys, args) => run(sharedTextScript, keys, args);
  }

  async read(key: string, most: number): Promise<SharedText> {
    const reply = await this.#run([key], ['read', String(most)]);
    return Array.isArray(reply) ? { text: '', problem: String(reply) } : { text: String(reply) };
  }

  async kept(keys: readonly string[]): Promise<readonly boolean[]> {
    return [...String(await this.#run(keys, ['kept']))].map((kept) => kept === '1');
  }

  async push({ list, read, line, rest, key, text, dropped }: TextPush): Promise<string> {
    return String(await this.#run([list, key, ...dropped], ['push', read, line, rest, text]));
  }
}
