import { ANY } from '../../../packages/core/src/algorithms/algorithm.js';
import { inAnyWindow } from '../../correctness/race/judge.js';
import { isOfStore, type UserCall } from '../calls.js';
import { EPOCH } from '../globals.js';
import { IDLE, MOST_IDLE } from '../limits.js';
import type { Kept } from '../server.js';
import type { InvariantOf } from './invariant.js';

const NAME = 'busy';
/** Permits of the largest call, and the window, µs. */
const [LARGEST, WINDOW] = [2, 2_000_000];

/** A permit that a caller used. */
interface Spent {
  /** µs of the server's clock. */
  readonly moment: number;
  readonly cost: number;
  readonly whole: number;
  readonly call: UserCall;
}

/** docs/prefetch.md: never above the limit when they are used, at most `most` idle permits in a process, and for at most `idle`. */
export const prefetchedPermitsAreBounded: InvariantOf = ({ world, settings, broken }) => {
  const busy = settings.find(({ limit }) => limit.name === NAME);
  if (busy === undefined) return {};
  const log: (Kept & { readonly period: string })[] = [];
  /** Changes of an operator that admit more, by key. */
  const changes = new Map<string, number>();
  const spent = new Map<string, Spent[]>();
  const periodOf = (era: number, key: string) => `${era}, change ${changes.get(key) ?? 0}, of ${key}`;

  const checkFresh = ({ member: { process }, key, endedAt }: UserCall) => {
    const isFresh = log.some(
      (one) =>
        one.process === process &&
        one.call.operation === 'consume' &&
        one.call.parts[0]!.key === key &&
        one.answer.allowed &&
        one.at + IDLE >= endedAt!,
    );
    if (!isFresh)
      broken(
        `${process.name}: a prefetched permit of ${key} was used after it should have gone back`,
        `${NAME} ${key}`,
      );
  };

  return {
    kept(kept) {
      const { call, process } = kept;
      const [{ limit, key, cost, at }] = call.parts as [Kept['call']['parts'][0]];
      if (limit.name !== NAME) return;
      const { operation } = call;
      const changed =
        operation === 'reset' || operation === 'override' || (operation === 'refund' && at === ANY);
      if (changed) changes.set(key, (changes.get(key) ?? 0) + 1);
      log.push({ ...kept, period: periodOf(kept.era, key) });
      if (operation === 'consume' && cost > LARGEST + MOST_IDLE)
        broken(`${process.name}: a block has ${cost} permits`);
    },
    ended(call) {
      const { decision, key, member, cost } = call;
      if (call.settings !== busy || !decision?.allowed || call.kind !== 'consume') return;
      const isPrefetched = decision.source === 'prefetch';
      if (!isPrefetched && !isOfStore(decision)) return;
      if (isPrefetched) checkFresh(call);
      const { process } = member;
      const { at } = process.product.DecisionRecord.taken(decision)![0]!;
      const taken = log.filter(
        ({ process: by, call: { parts }, answer }) =>
          by === process && parts[0]!.key === key && answer.parts[0]!.at === at,
      );
      if (!isPrefetched && taken.length === 0) return; // the answer was not kept: another promise
      const period = isPrefetched ? periodOf(world.server.era, key) : taken.at(-1)!.period;
      const moment = (isPrefetched ? world.server.clock : at) - EPOCH * 1000;
      spent.set(period, [...(spent.get(period) ?? []), { moment, cost, whole: 0, call }]);
    },
    calm() {
      for (const [period, all] of spent) {
        if (!period.startsWith('0, change 0,')) continue; // blocks from before a jump, a loss or a change may be used after it
        const left = all.filter(({ call }) => !call.returned).sort((a, b) => a.moment - b.moment);
        const wrong = inAnyWindow(busy.limit.rules[NAME]!.limit, WINDOW)(left);
        if (wrong !== undefined) broken(`${NAME}, era ${period}: ${wrong}`, `${NAME} ${period.slice(-1)}`);
      }
    },
  };
};
