import { type DenialReport, type FleetDenial, ownerOf } from '@sluice/core/operations';
import type { Denial, LimiterInfo } from './messages.js';
import type { Reports, RoundTrip } from './reports.js';
import { shownKey } from './shown-key.js';

/** Keys whose denials are kept. */
const MOST_KEYS = 100;
/** ms for which the times of a process count: it reports them every 2 s while it calls its store. */
const FRESH = 5_000;

/** With the key as it is stored. */
type Kept = Omit<Denial, 'key' | 'owner'> & { readonly key: string };
type Calls = NonNullable<DenialReport['storeCalls']> & { readonly receivedAt: number };

/** What all processes report of their denials, and of their calls of the store. */
export class Denials {
  /** By limiter and key; the key that was denied last is the last one. */
  readonly #denials = new Map<string, Kept>();
  readonly #calls = new Map<string, Calls>();
  #lastId = 0;
  #omitted = 0;
  /** Why no reports arrive, if the store refuses. */
  problem: string | null = null;

  add(report: DenialReport): void {
    const { process, storeCalls, denials, omitted } = report;
    if (storeCalls !== undefined) this.#calls.set(process, { ...storeCalls, receivedAt: Date.now() });
    for (const denial of denials) this.#keep(denial, `${report.host}:${report.pid}`);
    this.#omitted += omitted;
  }

  get lastId(): number {
    return this.#lastId;
  }

  get reports(): Reports {
    return { omitted: this.#omitted, problem: this.problem };
  }

  /** Keys that were denied after a denial. */
  after(id: number, limiters: ReadonlyMap<string, LimiterInfo>): readonly Denial[] {
    const later = [...this.#denials.values()].filter((denial) => denial.id > id);
    return later.map((denial) => ({
      ...denial,
      owner: ownerOf(limiters.values(), denial.limiter, denial.policy)?.limiter ?? denial.limiter,
      key: shownKey(denial.key),
    }));
  }

  /** Of all processes: the mean of their medians, by calls, and the largest p99. */
  roundTrip(): RoundTrip | null {
    const since = Date.now() - FRESH;
    for (const [process, { receivedAt }] of this.#calls) if (receivedAt < since) this.#calls.delete(process);
    const all = [...this.#calls.values()];
    const calls = all.reduce((sum, { count }) => sum + count, 0);
    if (calls === 0) return null;
    return {
      p50: all.reduce((sum, { count, p50 }) => sum + p50 * count, 0) / calls,
      p99: Math.max(...all.map(({ p99 }) => p99)),
      processes: all.length,
    };
  }

  #keep({ limiter, policy, key, at, retryAfter, count, mode }: FleetDenial, process: string): void {
    const id = `${limiter} ${key}`;
    const before = this.#denials.get(id)?.count ?? 0;
    this.#lastId += 1;
    this.#denials.delete(id);
    if (this.#denials.size >= MOST_KEYS) this.#denials.delete(this.#denials.keys().next().value!);
    this.#denials.set(id, {
      id: this.#lastId,
      at,
      count: before + count,
      limiter,
      policy,
      key,
      retryAfter,
      shadow: mode === 'shadow',
      process,
    });
  }
}
