import { NEVER } from '../algorithms/algorithm.js';
import type { StoreUnavailableError } from '../errors.js';
import type { Answer, AnswerSource, Call, Part, PartAnswer } from './call.js';

/** An answer of the fallback. */
export interface DegradedAnswer extends Answer {
  readonly source: AnswerSource & { readonly error: StoreUnavailableError };
}

export const isDegraded = (answer: Answer): answer is DegradedAnswer => answer.source?.error !== undefined;

export const degraded = (answer: Answer, source: DegradedAnswer['source']): DegradedAnswer => ({
  ...answer,
  source,
});

/** Decides a call by the fallback that decided another one. */
export async function decideByFallback({ source }: DegradedAnswer, call: Call): Promise<DegradedAnswer> {
  return degraded(await source.decider.decide(call), source);
}

/** Gives back what a fallback took for an answer that is not used. */
export async function undo(
  { source, allowed, queued, parts }: DegradedAnswer,
  sent: readonly Part[],
): Promise<void> {
  if (!allowed && !queued) return;
  const taken = sent.map((part, i) => ({ ...part, at: parts[i]!.at }));
  await source.decider.decide({ operation: 'refund', wait: 0, parts: taken });
}

/**
 * The same answer, `micros` later and with `more` permits left. Objects are written out: spreading them takes longer than all the
 * rest of a cached answer.
 */
export function shiftAnswer(answer: Answer, micros: number, source: AnswerSource, more = 0): Answer {
  const { allowed, queued, now, wait } = answer;
  const parts: PartAnswer[] = [];
  for (const { remaining, wait, reset, at, override, blocked } of answer.parts) {
    const part = {
      remaining: remaining + more,
      wait: less(wait, micros),
      reset: less(reset, micros),
      at,
      override,
    };
    parts.push(blocked === undefined ? part : { ...part, blocked: less(blocked, micros) });
  }
  return { allowed, queued, now: now + micros, wait: less(wait, micros), parts, source };
}

const less = (time: number, micros: number): number => (time === NEVER ? NEVER : Math.max(0, time - micros));
