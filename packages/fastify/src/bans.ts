import {
  type Decision,
  fixedWindow,
  LimitersByPolicy,
  PLACE_OPTIONS,
  type RequestLimitOptions,
} from '@sluice/core';
import type { Args } from './options.js';

/** Counts denials: a key with more of them than `ban` in one window is banned. */
export class Bans {
  readonly #limiters: LimitersByPolicy;

  /**
   * @param ban denials of a key that are answered with 429 before those with 403; 0: none
   * @param options of the limit: denials are counted in its store
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

  /** Counts a denial. @param peek count nothing */
  async reached(key: string, { window }: Decision, peek = false): Promise<boolean> {
    if (this.ban === 0) return true;
    const { limiter } = this.#limiters.of({ policy: fixedWindow({ limit: this.ban, window }) });
    const { allowed, degraded } = await (peek ? limiter.peek(key as never) : limiter.consume(key as never));
    // While the store is out nobody knows how many denials there were.
    return !allowed && !degraded;
  }

  async close(): Promise<void> {
    await this.#limiters.close();
  }
}
