import { RecentMap } from '@sluice/core/internal';
import type { Pause } from '../pauses/pause.js';
import type { ObservedLimit, RateLimitReading, Refusal, ResponseView } from '../reading/reading.js';
import { statedBy } from '../reading/stated-by.js';
import { type AdmissionParts, type Ticket, unlessOut } from './admission.js';
import { accountKey, type CallScopes, pauseKey } from './scopes.js';

/** Scopes whose refusals in a row are counted. */
const MOST = 10_000;
/** Doublings after which a pause that grows grows no more; `maxPause` bounds it before. */
const MOST_DOUBLINGS = 20;

/** Learns from responses: pauses for all processes, the rest of budgets, and whether a scope has recovered. */
export class Lessons {
  /** Refusals without a time, since the last success of their scope. */
  readonly #inARow = new RecentMap<string, number>(MOST, () => false);

  constructor(readonly parts: AdmissionParts) {}

  /**
   * @param keys under which the call can be paused
   * @returns the pause that the response has caused
   */
  async learn(
    scopes: CallScopes,
    keys: readonly string[],
    ticket: Ticket,
    view: ResponseView,
    { refusal, observed }: RateLimitReading,
  ): Promise<Pause | undefined> {
    const { beliefs } = this.parts;
    const account = accountKey(scopes.account);
    if (refusal !== undefined) {
      const pause = await this.#refused(scopes, refusal, view);
      if (ticket.taken !== undefined)
        await unlessOut(beliefs!.othersUse.refused(account, ticket.taken.decision, refusal, observed));
      return pause;
    }
    if (view.status >= 500) return undefined;
    if (this.#inARow.size > 0) for (const key of keys) this.#inARow.delete(key);
    for (const permit of ticket.ramps) await unlessOut(this.parts.ramps.succeeded(permit));
    if (ticket.taken !== undefined) {
      const { decision } = ticket.taken;
      const { othersUse } = beliefs!;
      if (othersUse.hasLowered) await unlessOut(othersUse.served(account, decision, observed));
      if (observed.length > 0)
        await unlessOut(beliefs!.observe(account, decision, ticket.snapshot!, observed));
    }
    if (observed.length === 0) return undefined;
    await this.#exhausted(scopes, observed, view);
    return undefined;
  }

  async #refused(scopes: CallScopes, refusal: Refusal, view: ResponseView): Promise<Pause | undefined> {
    const { kind, reason, dimension } = refusal;
    // A budget that no call is known to draw on would pause nothing: the endpoint does draw on it.
    const isUnknown = refusal.scope === 'dimension' && !scopes.dimensions.includes(dimension ?? 'requests');
    const key = pauseKey(isUnknown ? 'endpoint' : refusal.scope, scopes, dimension);
    if (key === undefined) return undefined;
    const until = refusal.until ?? this.#grown(key, refusal.least);
    // A time is never invented.
    if (until === undefined) return undefined;
    const why = { kind, reason, status: view.status, header: statedBy(view, refusal.until) };
    const pause = await this.parts.pauses.pause(key, until, why, true);
    this.parts.ramps.interrupt(key);
    return pause;
  }

  #grown(key: string, least: number | undefined): number | undefined {
    if (least === undefined) return undefined;
    const before = this.#inARow.get(key) ?? 0;
    this.#inARow.delete(key);
    this.#inARow.set(key, before + 1);
    return this.parts.pauses.now + least * 2 ** Math.min(before, MOST_DOUBLINGS);
  }

  /** A success that says that nothing is left, and until when: the next call would be refused. Limits that are known in advance wait by themselves. */
  async #exhausted(
    scopes: CallScopes,
    observed: readonly ObservedLimit[],
    view: ResponseView,
  ): Promise<void> {
    const { pauses, budget } = this.parts;
    for (const { dimension, limit, remaining, resetAt, resetMeans } of observed) {
      const isOver = remaining === 0 && limit !== 0 && resetAt !== undefined && resetMeans !== 'full';
      if (!isOver || !scopes.dimensions.includes(dimension) || budget?.limiters[dimension] !== undefined)
        continue;
      const said = { reason: `nothing is left of ${dimension}`, status: view.status };
      const why = { kind: 'exhausted', ...said, header: statedBy(view, resetAt) } as const;
      await pauses.pause(pauseKey('dimension', scopes, dimension)!, resetAt, why, false);
    }
  }
}
