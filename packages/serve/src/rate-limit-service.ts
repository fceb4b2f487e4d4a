import type { PolicyDecision } from '@sluice/core';
import { bindingPart, warnOnce } from '@sluice/core/internal';
import type { Verdict } from '@sluice/http';
import type { Answer } from './answer.js';
import { type Call, type Decider, policyOf } from './decider.js';
import { callsOf, type RateLimitRequest } from './descriptors.js';

const DAY = 86_400;
const SECONDS = { SECOND: 1, MINUTE: 60, HOUR: 3_600, DAY, WEEK: 7 * DAY, MONTH: 30 * DAY, YEAR: 365 * DAY };
const UNITS = new Map(Object.entries(SECONDS).map(([unit, seconds]) => [seconds * 1_000, unit]));
const LARGEST = 2 ** 32 - 1;

/**
 * Decides all descriptors of a request together: a denied request takes nothing. Those that cannot be decided together give back what they
 * took. A denial comes before a failure, which Envoy passes.
 * @throws BadCall; errors as `Decider.decide`
 */
export async function shouldRateLimit(decider: Decider, request: RateLimitRequest, answer: Answer) {
  const groups = decider.groupsOf(callsOf(request));
  const settled = await Promise.allSettled(groups.map(async ({ call }) => decider.decide(call, answer)));
  const verdicts = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  const denial = verdicts.find((verdict) => verdict?.outcome === 'denied');
  const failure = settled.find((one) => one.status === 'rejected');
  if (denial === undefined && failure !== undefined) throw failure.reason;
  const headers = new Map([...answer].map(([name, value]) => [name.toLowerCase(), value]));
  // Not awaited: Envoy passes a request whose answer comes too late.
  if (denial !== undefined)
    for (const [i, { call }] of groups.entries()) decider.background(giveBack(call, verdicts[i]));
  // Without a decision the store is out, and the body names another status than Envoy sends.
  const reply = denial?.decision && (await denial.reply());
  if (reply !== undefined) headers.set('content-type', reply.type);
  const statuses: object[] = [];
  groups.forEach(({ members }, i) => {
    for (const [index, names] of members) statuses[index] = statusOf(verdicts[i], names);
  });
  return {
    overallCode: denial === undefined ? 'OK' : 'OVER_LIMIT',
    statuses,
    responseHeadersToAdd: [...headers].map(([key, value]) => ({ key, value })),
    rawBody: reply && Buffer.from(reply.body),
  };
}

async function giveBack({ matched }: Call, verdict: Verdict | undefined): Promise<void> {
  if (verdict?.outcome !== 'passed' || verdict.decision === undefined) return;
  const { decision } = verdict;
  try {
    await matched?.enforced?.limiter.refund(decision);
  } catch (error) {
    const { name } = decision;
    warnOnce('SLUICE_REFUND_LOST', name, `Limit '${name}' could not refund permits: ${error}`);
  }
}

/**
 * @param verdict undefined if the descriptor could not be decided
 * @param members the names of its rules in a decision of several descriptors; undefined: all of them
 */
function statusOf(verdict: Verdict | undefined, members: readonly string[] | undefined) {
  if (verdict === undefined) return { code: 'UNKNOWN' };
  const isDenied = verdict.outcome === 'denied';
  if (members?.length === 0) return { code: 'OK' };
  const code = isDenied ? 'OVER_LIMIT' : 'OK';
  const { decision } = verdict;
  if (decision === undefined || decision.source === 'allow') return { code };
  if (members === undefined) return { code, ...figuresOf(policyOf(decision), decision) };
  const { name, policy, policies } = decision;
  const own = policies.filter((one) => members.includes(one.name.split('.', 1)[0]!));
  const denies = own.some((one) => one.name === policy || one.retryAfter > 0);
  const parts = own.map(({ retryAfter, remaining }) => ({ wait: retryAfter * 1_000, remaining }));
  const binding = own[bindingPart({ allowed: decision.allowed, parts })]!;
  return {
    code: isDenied && denies ? code : 'OK',
    ...figuresOf(policyOf({ name, policy: binding.name }), binding),
  };
}

function figuresOf(name: string, { limit, window, remaining, resetAfter }: PolicyDecision) {
  const unit = UNITS.get(window) ?? 'NONE';
  return {
    currentLimit: { name, requestsPerUnit: Math.min(limit, LARGEST), unit },
    limitRemaining: Math.min(Math.max(remaining, 0), LARGEST),
    durationUntilReset: { seconds: Math.floor(resetAfter / 1_000), nanos: (resetAfter % 1_000) * 1e6 },
  };
}
