import { type Decision, fixedWindow, type RequestLimitOptions } from '@sluice/core';
import { LimitersByPolicy, PLACE_OPTIONS } from '@sluice/core/http';
import type { Args } from './options.js';

/** Counts denials: a key with more than `ban` denials in one window is banned. */
export class Bans {
  readonly #limiters: LimitersByPolicy;

  /**
   * @param ban denials of a key that get 429; further ones get 403. 0: all get 403
   * @param options the options of the limit, whose store also counts the denials
   */
  constructor(
    readonly ban: number,
    options: RequestLimitOptions<Args>,
  ) {
    const place = Object.fromEntries(
      PLACE_OPTIONS.filter((name) => name !== 'prefetch' && options[name] !== undefined).map((name) => [
        name,
        options[name],
      ]),
    );
    this.#limiters = new LimitersByPolicy({ ...place, keyPrefix: `${options.keyPrefix ?? 'sluice'}#bans` });
  }

  /** Counts a denial. @param peek only checks */
  async reached(key: string, { window }: Decision, peek = false): Promise<boolean> {
    if (this.ban === 0) return true;
    const { limiter } = this.#limiters.of({ policy: fixedWindow({ limit: this.ban, window }) });
    const { allowed, degraded } = await (peek ? limiter.peek(key as never) : limiter.consume(key as never));
    // While the store is out, the number of denials is unknown.
    return !allowed && !degraded;
  }

  async close(): Promise<void> {
    await this.#limiters.close();
  }
}
