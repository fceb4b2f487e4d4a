import { performance } from 'node:perf_hooks';
import { type DenialReport, type FleetDenial, ownerOf } from '@sluice/fleet';
import type { Denial, LimiterInfo } from './messages.js';
import type { Reports, RoundTrip } from './reports.js';
import { shownKey } from './shown-key.js';

/** The most keys whose denials are kept. */
const MOST_KEYS = 100;
/** How long the round trips of a process count, ms. A process reports them every 2 s while it calls its store. */
const FRESH = 5_000;

const SILENT = 'none sends its denials. Create their stores with redisStore({ url, denials: true })';

/** A denial with its key in stored form. */
type Kept = Omit<Denial, 'key' | 'owner'> & { readonly key: string };
type Calls = NonNullable<DenialReport['storeCalls']> & { readonly receivedAt: number };

/** The reports of all processes on their denials and their calls of the store. */
export class Denials {
  /** Denials by limiter and key. The latest denied key is the last one. */
  readonly #denials = new Map<string, Kept>();
  readonly #calls = new Map<string, Calls>();
  #lastId = 0;
  #omitted = 0;
  /** The reason why no reports arrive, if the store refuses. */
  problem: string | null = null;
  /** No other process sends its denials. */
  isSilent = false;

  add(report: DenialReport): void {
    const { process, storeCalls, denials, omitted } = report;
    if (storeCalls !== undefined) this.#calls.set(process, { ...storeCalls, receivedAt: performance.now() });
    for (const denial of denials) this.#keep(denial, `${report.host}:${report.pid}`);
    this.#omitted += omitted;
  }

  get lastId(): number {
    return this.#lastId;
  }

  get reports(): Reports {
    return { omitted: this.#omitted, problem: this.problem ?? (this.isSilent ? SILENT : null) };
  }

  /** The keys that were denied after the given denial. */
  after(id: number, limiters: ReadonlyMap<string, LimiterInfo>): readonly Denial[] {
    const later = [...this.#denials.values()].filter((denial) => denial.id > id);
    return later.map((denial) => ({
      ...denial,
      owner: ownerOf(limiters.values(), denial.limiter, denial.policy)?.limiter ?? denial.limiter,
      key: shownKey(denial.key),
    }));
  }

  /** The round trip of all processes: the mean of their medians, weighted by calls, and the largest p99. */
  roundTrip(): RoundTrip | null {
    const since = performance.now() - FRESH;
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
