import { type Decision, memoryStore, type Policy, RateLimiter } from '@sluice/core';
import { BaseLimiter, describe } from '@sluice/core/internal';
import type { Rule } from '../compile/rule.js';
import type { MatchedRule, RuleSet } from '../rule-set.js';
import { namedPolicies } from './figures/rule-figures.js';
import type { LogRequest } from './log/log-request.js';
import type { LogSource } from './log/read-log.js';
import { LoggedRules } from './logged-rules.js';
import { ReplayClock } from './replay-clock.js';
import type { ReplayReport, SmallestLimit } from './report.js';
import { SmallestSearch } from './smallest-search.js';

/** @throws RangeError, TypeError */
export function checkTarget(target: number, log: LogSource | readonly LogSource[]): void {
  if (!(typeof target === 'number' && target >= 0 && target < 1)) {
    throw new RangeError(`simulate: target must be a share from 0 to below 1, not ${describe(target)}`);
  }
  if ([log].flat().some((source) => typeof source !== 'string')) {
    throw new TypeError('simulate: target reads the log several times: write the stream to a file first');
  }
}

/** A limit with another number of permits. Its rate grows in proportion. */
export function withLimit(policy: Policy, limit: number): Policy {
  const numbers = policy as Policy & Readonly<Record<string, number | undefined>>;
  const base = numbers.capacity ?? numbers.limit!;
  const scaled = Object.fromEntries(
    ['refill', 'leak', 'burst', 'borrow', 'initial'].flatMap((name) => {
      const value = numbers[name];
      return value === undefined ? [] : [[name, Math.round((value * limit) / base) || Math.min(1, value)]];
    }),
  );
  return { ...policy, ...scaled, [numbers.capacity === undefined ? 'limit' : 'capacity']: limit };
}

type Pass = (each: (request: LogRequest) => unknown) => Promise<unknown>;

/** Adds the smallest limits to a report: each limit is replayed alone, with several numbers in each pass. */
export async function withSmallest(
  rules: RuleSet,
  report: ReplayReport,
  target: number,
  maxKeys: number,
  pass: Pass,
): Promise<ReplayReport> {
  const searches = new Map<string, SmallestSearch>();
  for (const { limits } of report.rules) {
    for (const { limit, plan, policy, requests } of limits) {
      const numbers = policy as Policy & { readonly capacity?: number; readonly limit?: number };
      const start = Math.floor(numbers.capacity ?? numbers.limit ?? 1);
      const id = idOf(limit, plan);
      // A limit of 0 has no proportion.
      if (start > 0) searches.set(id, new SmallestSearch(start, Math.floor(target * requests)));
    }
  }
  for (;;) {
    const open = new Map([...searches].filter(([, search]) => search.candidates.length > 0));
    if (open.size === 0) break;
    await tryCandidates(rules, open, maxKeys, pass);
  }
  const smallestOf = (limit: string, plan: string | undefined, policy: Policy): SmallestLimit | undefined => {
    const found = searches.get(idOf(limit, plan));
    if (found === undefined) return undefined;
    const { best } = found;
    return {
      target,
      limit: best,
      policy: best === undefined ? undefined : withLimit(policy, best),
      denied: best === undefined ? undefined : found.deniedBy(best),
      exact: found.isExact,
    };
  };
  return {
    ...report,
    rules: report.rules.map((rule) => ({
      ...rule,
      limits: rule.limits.map((limit) => ({
        ...limit,
        smallest: smallestOf(limit.limit, limit.plan, limit.policy),
      })),
    })),
  };
}

const idOf = (limit: string, plan: string | undefined): string => `${limit} ${plan ?? ''}`;

interface Candidate {
  readonly limit: number;
  readonly limiter: RateLimiter;
  readonly consume: (key: string, options: { cost: number }) => Decision;
  /** The most denials that meet the target. */
  readonly most: number;
  denied: number;
}

const isRefunded = (rule: Rule, { status }: LogRequest): boolean =>
  rule.refunds && status !== undefined && rule.skips(status < 400);

/** One pass: all candidates of all searches. */
async function tryCandidates(
  rules: RuleSet,
  searches: ReadonlyMap<string, SmallestSearch>,
  maxKeys: number,
  pass: Pass,
): Promise<void> {
  const clock = new ReplayClock();
  const set = new LoggedRules(rules);
  const store = memoryStore({ clock, maxKeys, definitions: false });
  const tried = new Map<string, readonly Candidate[]>();
  const candidatesOf = (name: string, { plan }: MatchedRule, policy: Policy): readonly Candidate[] => {
    const id = idOf(name, plan);
    let candidates = tried.get(id);
    if (candidates === undefined) {
      const search = searches.get(id);
      candidates = (search?.candidates ?? []).flatMap((limit) => {
        try {
          const options = { name: `${name}:${plan ?? ''}:${limit}`, policy: withLimit(policy, limit), store };
          const limiter = new RateLimiter(options);
          const consume = BaseLimiter.consumer(limiter) as unknown as Candidate['consume'];
          return [{ limit, limiter, consume, most: search!.most, denied: 0 }];
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          search!.refused(limit);
          return [];
        }
      });
      tried.set(id, candidates);
    }
    return candidates;
  };
  const decide = (request: LogRequest) => {
    set.applying(request);
    for (const matched of set.last) {
      for (const [name, policy] of namedPolicies(matched.rule.name, matched.limits)) {
        const { key, cost, plan } = matched;
        searches.get(idOf(name, plan))?.requested(cost);
        for (const candidate of candidatesOf(name, matched, policy)) {
          if (candidate.denied > candidate.most) continue; // already known to be too small
          const decision = candidate.consume(key, { cost });
          if (!decision.allowed) candidate.denied += 1;
          else if (policy.algorithm === 'concurrency' || isRefunded(matched.rule, request))
            clock.at(clock.now() + (request.duration ?? 0), () => candidate.limiter.refund(decision));
        }
      }
    }
  };
  await pass((request) => {
    const moved = clock.moveTo(request.time);
    return moved === undefined ? decide(request) : moved.then(() => decide(request));
  });
  for (const [id, candidates] of tried) {
    for (const { limit, denied } of candidates) searches.get(id)!.tried(limit, denied);
  }
  for (const search of searches.values()) search.next();
  for (const { limiter } of [...tried.values()].flat()) await limiter.close();
  await store.close();
}
