import type { Decision } from '../../packages/core/src/index.js';
import type { Limit } from './limits.js';
import type { Member, Settings, World } from './world.js';

/** What a caller may do with a limiter. */
export type Kind =
  | 'consume'
  | 'acquire'
  | 'refund'
  | 'release'
  | 'hold'
  | 'more'
  | 'settle'
  | 'cancel'
  | 'block'
  | 'unblock'
  | 'override'
  | 'removeOverride'
  | 'reset'
  | 'penalty'
  | 'reward'
  | 'peek'
  | 'close';

/** A call of a caller, from its begin to its end. Times are µs. */
export interface UserCall {
  readonly kind: Kind;
  readonly member: Member;
  readonly settings: Settings;
  readonly key: string;
  readonly cost: number;
  readonly startedAt: number;
  /** How long it may take in a process that was not frozen. */
  readonly bound: number;
  endedAt?: number;
  decision?: Decision;
  error?: unknown;
  /** Permits of its decision were given back. */
  returned?: boolean;
}

/** All calls of a run. */
export class Calls {
  readonly all: UserCall[] = [];
  /** Called when a call has ended. */
  ended: (call: UserCall) => void = () => {};

  constructor(private readonly world: World) {}

  /** Makes a call, and waits for its end. Never rejects. `result`: of a call that resolved. */
  async run<T>(
    call: Omit<UserCall, 'startedAt'>,
    work: () => Promise<T>,
    decisionOf?: (result: T) => Decision,
  ): Promise<{ readonly call: UserCall; readonly result: T | undefined }> {
    const { world } = this;
    const one: UserCall = { ...call, startedAt: world.scheduler.now };
    this.all.push(one);
    const { name } = one.member.process;
    const what = `${one.kind} ${one.settings.limit.name} ${one.key}${one.cost > 1 ? ` × ${one.cost}` : ''}`;
    const about = `${one.settings.limit.name} ${one.key}`;
    world.story.note(name, what, about);
    let result: T | undefined;
    try {
      result = await work();
      const decision = decisionOf?.(result);
      if (decision !== undefined) one.decision = decision;
    } catch (error) {
      one.error = error;
    }
    one.endedAt = world.scheduler.now;
    world.story.note(name, () => `${what}: ${outcomeOf(one)}`, about);
    this.ended(one);
    return { call: one, result };
  }
}

function outcomeOf({ decision, error }: UserCall): string {
  if (error !== undefined) return String((error as Error).message);
  if (decision === undefined) return 'done';
  const { allowed, source, remaining, retryAfter, waited } = decision;
  return `${allowed ? 'allowed' : `denied for ${retryAfter} ms`} by ${source}, ${remaining} left${waited > 0 ? `, waited ${waited} ms` : ''}`;
}

/** What was allowed by the store itself: neither from memory nor by a failure policy. */
export const isOfStore = ({ source }: Decision): boolean => source === 'table' || source === 'script';

export const isHeld = ({ rules }: Limit): boolean =>
  Object.values(rules).some(({ judge }) => judge === undefined);
