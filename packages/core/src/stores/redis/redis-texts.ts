import type { Script } from '../../algorithms/algorithm.js';
import { sharedTextScript } from '../../board/shared-text.script.js';
import type { SharedText, SharedTexts, TextPush } from '../../board/shared-texts.js';

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
