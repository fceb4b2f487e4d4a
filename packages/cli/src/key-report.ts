import { isKeyResolutionError } from '@sluice/core';
import { isStoreRefusal } from '@sluice/core/internal';
import { type InspectedKey, type InspectedPolicy, inspectKey, lengthText } from '@sluice/fleet';
import type { Context } from './command.js';
import type { KnownLimiter } from './fleet.js';
import { VERSION } from './version.js';
import { count, lengthOfMicros, momentOf, stateOf } from './words.js';

/** A key at one limiter; `problem` if the stored value cannot be read. */
export interface KeyReport {
  readonly limiter: KnownLimiter;
  readonly seen: InspectedKey | undefined;
  readonly problem: string | undefined;
}

export async function lookAt(
  { store, ask }: Context,
  limiter: KnownLimiter,
  key: string,
  cost?: number,
): Promise<KeyReport> {
  try {
    return {
      limiter,
      seen: await ask(inspectKey(store, limiter.definition, key, { cost })),
      problem: undefined,
    };
  } catch (error) {
    return { limiter, seen: undefined, problem: problemOf(error, limiter) };
  }
}

/** Why what a limiter or a meter has stored cannot be read: others still can. @throws the error itself if it is of another kind */
export function problemOf(error: unknown, limiter: KnownLimiter): string {
  const isOurs =
    error instanceof RangeError ||
    // An algorithm or an option of a later version.
    error instanceof TypeError ||
    (isStoreRefusal(error) && (error.reason === 'WRONGTYPE' || error.reason === 'NOPERM'));
  if (!isOurs || isKeyResolutionError(error)) throw error;
  return (error as Error).message.replace(/^[\w ]+: /, '') + updateFor(limiter);
}

/** The remedy if a newer version wrote the value. */
function updateFor({ processes }: KnownLimiter): string {
  const newer = processes.map(({ version }) => version).find((version) => isNewer(version));
  if (newer === undefined) return '';
  return `. It was made by @sluice/core ${newer}, and this is @sluice/cli ${VERSION}: update the command`;
}

function isNewer(version: string): boolean {
  const [theirs, ours] = [version, VERSION].map((text) => text.split('.').map(Number));
  const i = ours!.findIndex((number, at) => number !== theirs![at]);
  return i >= 0 && theirs![i]! > ours![i]!;
}

/** The state of a key under one policy, as sentences. */
export function linesOf(policy: InspectedPolicy, now: number): string[] {
  const { remaining, limit, state, blockedUntil, overrideUntil, booked, timeToLive } = policy;
  const lines = [`${stateOf(state.view, now)}.`];
  if (remaining < state.remaining || policy.reset > 0)
    lines.push(
      `${remaining} of ${count(limit, 'permit')} can be taken now; all of them in ${lengthOfMicros(policy.reset)}.`,
    );
  if (blockedUntil > now)
    lines.push(`Blocked${stepOf(policy)}: no call passes before it ends ${momentOf(blockedUntil, now)}.`);
  lines.push(...escalationOf(policy, now));
  if (overrideUntil !== undefined)
    lines.push(`Overridden: ${sizeOf(policy)} until that ends ${momentOf(overrideUntil, now)}.`);
  if (booked.length > 0) {
    const permits = booked.reduce((sum, { cost }) => sum + cost, 0);
    lines.push(
      `${count(booked.length, 'call')} booked ${count(permits, 'permit')} ahead; the last goes ${momentOf(booked.at(-1)!.at, now)}.`,
    );
  }
  if (state.view.kind === 'holders') {
    for (const { permits, until } of state.view.holders)
      lines.push(
        `Held: ${count(permits, 'permit')}, its lease ends ${momentOf(until, now)} unless it is renewed.`,
      );
    for (const { permits } of state.view.waiting)
      lines.push(`Waiting: a call for ${count(permits, 'permit')}.`);
  }
  if (timeToLive !== undefined) lines.push(`The store forgets the key in ${lengthText(timeToLive)}.`);
  return lines;
}

/** `by escalation, step 2 of 3`; empty for a block of an operator. */
export const stepOf = ({ escalation }: InspectedPolicy): string =>
  escalation?.blocks ? ` by escalation, step ${escalation.step} of ${escalation.steps}` : '';

function escalationOf({ escalation }: InspectedPolicy, now: number): string[] {
  if (escalation === undefined) return [];
  const { step, steps, blocks, denials, after, next, forgivenAt } = escalation;
  const lines: string[] = [];
  if (denials > 0 || (step > 0 && !blocks)) {
    const taken = step > 0 && !blocks ? `step ${step} of ${steps} was taken; ` : '';
    lines.push(
      `Escalation: ${taken}${denials} of ${count(after, 'denial')} counted for the next block, of ${lengthOfMicros(next)}.`,
    );
  }
  if (forgivenAt !== undefined)
    lines.push(`Forgiven ${momentOf(forgivenAt, now)}, if no other denial counts.`);
  return lines;
}

/** The numbers of an override that replace those of the policy. */
function sizeOf({ limit, state: { view } }: InspectedPolicy): string {
  const permits = count(limit, 'permit');
  if (view.kind !== 'bucket') return permits;
  return `${permits} at once, ${Math.round(view.perSecond * 1_000) / 1_000} more a second,`;
}
