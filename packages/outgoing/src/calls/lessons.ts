import { RecentMap } from '@sluice/core/internal';
import type { Pause, PauseReason } from '../pauses/pause.js';
import type { ObservedLimit, RateLimitReading, Refusal, ResponseView } from '../reading/reading.js';
import { statedBy } from '../reading/stated-by.js';
import { type AdmissionParts, type Ticket, unlessOut } from './admission.js';
import { backoff } from './retry-rules.js';
import { type CallScopes, pauseKey } from './scopes.js';

/** Scopes whose refusals in a row are counted. */
const MOST = 10_000;
/** Doublings after which a pause that grows grows no more; `maxPause` bounds it before. */
const MOST_DOUBLINGS = 20;

/** ms. After a pause that is no longer no call goes first if limits pace the calls: they were one too many, and a reply may take as long. */
const SHORT = 1_000;

/** A call that was sent. */
export interface SentCall {
  readonly scopes: CallScopes;
  /** Under which it can be paused. */
  readonly keys: readonly string[];
  readonly ticket: Ticket;
  /** `Lessons.refusals` when it was sent. */
  readonly refusals: number;
}

/** Refusals of a scope without a time, since its last success. */
interface Row {
  readonly length: number;
  /** `Lessons.refusals` with the last of them. */
  readonly last: number;
}

/** Learns from responses: pauses for all processes, the rest of budgets, and whether a scope has recovered. */
export class Lessons {
  readonly #rows = new RecentMap<string, Row>(MOST, () => false);
  #refusals = 0;

  constructor(readonly parts: AdmissionParts) {}

  /** Refusals without a time that were counted so far. */
  get refusals(): number {
    return this.#refusals;
  }

  /** @returns the pause that the response has caused */
  async learn(
    sent: SentCall,
    view: ResponseView,
    { refusal, observed }: RateLimitReading,
  ): Promise<Pause | undefined> {
    const { beliefs } = this.parts;
    const { scopes, keys, ticket } = sent;
    const { account } = scopes;
    if (refusal !== undefined) {
      const pause = await this.#refused(sent, refusal, view);
      if (ticket.taken !== undefined)
        await unlessOut(beliefs!.othersUse.refused(account, ticket.taken.decision, refusal, observed));
      return pause;
    }
    if (view.status >= 500) return undefined;
    if (this.#rows.size > 0) for (const key of keys) this.#rows.delete(key);
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

  async #refused(
    { scopes, refusals }: SentCall,
    refusal: Refusal,
    view: ResponseView,
  ): Promise<Pause | undefined> {
    const { kind, reason, dimension, least } = refusal;
    // A budget that no call is known to draw on would pause nothing: the endpoint does draw on it.
    const isUnknown = refusal.scope === 'dimension' && !scopes.dimensions.includes(dimension ?? 'requests');
    const key = pauseKey(isUnknown ? 'endpoint' : refusal.scope, scopes, dimension);
    if (key === undefined) return undefined;
    const { pauses, ramps } = this.parts;
    const why = { kind, reason, status: view.status, header: statedBy(view, refusal.until) };
    if (refusal.until === undefined && least === undefined) {
      // A time is never invented for more than the endpoint. A quota is not waited for, and overloads open the circuit.
      return kind === 'limit' ? this.#backOff(pauseKey('endpoint', scopes)!, why, refusals) : undefined;
    }
    const until = refusal.until ?? this.#grown(key, least!, refusals);
    const isShort = kind === 'limit' && ramps.isPaced && until - pauses.now <= SHORT;
    const pause = await pauses.pause(key, until, why, !isShort);
    ramps.interrupt(key);
    return pause;
  }

  /** The end of a pause that doubles with each refusal in a row. */
  #grown(key: string, least: number, refusals: number): number {
    this.#count(key, refusals);
    const { length } = this.#rows.get(key)!;
    return this.parts.pauses.now + least * 2 ** Math.min(length - 1, MOST_DOUBLINGS);
  }

  /** Holds an endpoint up in this process, for a delay with full jitter that grows with each refusal in a row. */
  #backOff(key: string, why: PauseReason, refusals: number): Pause | undefined {
    const { pauses } = this.parts;
    if (this.#count(key, refusals)) {
      const ms = backoff(this.#rows.get(key)!.length, Math.random());
      pauses.pauseHere(key, pauses.now + ms, why);
    }
    return pauses.remembered([key]);
  }

  /**
   * Counts a refusal without a time.
   * @param refusals counted when the call was sent: calls in flight at the last one are refused for the same cause, which counts once
   * @returns whether it counts
   */
  #count(key: string, refusals: number): boolean {
    const row = this.#rows.get(key);
    if (row !== undefined && refusals < row.last) return false;
    this.#refusals += 1;
    this.#rows.set(key, { length: (row?.length ?? 0) + 1, last: this.#refusals });
    return true;
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
