import { type Decision, fixedWindow } from '@sluice/core';
import { LIMITER_BASE_OPTIONS, LimiterPool } from '@sluice/core/internal';
import { pick, type RequestLimitOptions } from '@sluice/http';
import type { Args } from './options.js';

/** Windows in use at once: a policy for each request may have a window of its own. */
const MAX_LIMITERS = 1000;

/** Counts denials: a key with more than `ban` denials in one window is banned. */
export class Bans {
  readonly #limiters: LimiterPool;

  /**
   * @param ban denials of a key that get 429; further ones get 403. 0: all get 403
   * @param options the options of the limit, whose store also counts the denials
   */
  constructor(
    readonly ban: number,
    options: RequestLimitOptions<Args>,
  ) {
    const { prefetch: _, escalate: __, notify: ___, ...base } = pick(options, LIMITER_BASE_OPTIONS);
    const keyPrefix = `${options.keyPrefix ?? 'sluice'}#bans`;
    this.#limiters = new LimiterPool({ ...base, keyPrefix }, MAX_LIMITERS);
  }

  /** Counts a denial. @param peek only checks */
  async reached(key: string, { window }: Decision, peek = false): Promise<boolean> {
    if (this.ban === 0) return true;
    const limiter = this.#limiters.byPolicies(fixedWindow({ limit: this.ban, window }));
    const { allowed, degraded } = await (peek ? limiter.peek(key as never) : limiter.consume(key as never));
    // While the store is out, the number of denials is unknown.
    return !allowed && !degraded;
  }

  async close(): Promise<void> {
    await this.#limiters.close();
  }
}
