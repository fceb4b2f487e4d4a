import type { PROMISES } from './promises.js';
import type { TableFault } from './world.js';

/** A change of one source file. */
interface Change {
  /** Below `packages`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A fault that the product, or the table of a store, had or could have. */
export interface Mutant {
  readonly name: string;
  readonly changes?: readonly Change[];
  readonly tableFault?: TableFault;
  /** The first seed to try, of a fault that few fleets notice: one that broke a promise. Default: 0. */
  readonly first?: number;
  /** The promises that may notice it first. */
  readonly breaks: readonly (keyof typeof PROMISES)[];
}

const core = (file: string, from: string, to: string): readonly Change[] => [
  { file: `core/src/${file}`, from, to },
];
const entries = (file: string, from: string, to: string): readonly Change[] => [
  { file: `entries/src/${file}`, from, to },
];

const CIRCUIT = ['fiveFailuresOpenTheCircuit', 'theStoreDecidesAgain'] as const;
const BOUNDS = ['neverAboveTheLimit', 'neverOneHolderTooMany', 'prefetchedPermitsAreBounded'] as const;

/** Each must break a promise. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a denial that was on its way when its key was loosened is cached',
    changes: core(
      'pipeline/pipeline.ts',
      "if (operation !== 'consume') this.#context.invalidations.add(call);\n    else if (!answer.allowed",
      'if (!answer.allowed',
    ),
    breaks: ['cachedDenialsEndInTime'],
  },
  {
    name: 'a cached denial counts from its arrival',
    changes: core('pipeline/pipeline.ts', 'departure?.localTime ?? 0', 'this.clock.now()'),
    breaks: ['cachedDenialsEndInTime'],
  },
  {
    name: 'a late answer is a success of the circuit',
    changes: core(
      'pipeline/pipeline.ts',
      'answered(call: PendingCall, answer: Answer): void {\n    if (call.over) return;',
      'answered(call: PendingCall, answer: Answer): void {\n    if (call.over) return this.#context.onlyNode?.succeeded(call.ticket);',
    ),
    breaks: CIRCUIT,
  },
  {
    name: 'a failed trial leaves the circuit half-open',
    changes: core(
      'health/circuit.ts',
      "if (this.#state === 'trial' && ticket === TRIAL) this.#open(probe);",
      '',
    ),
    breaks: CIRCUIT,
  },
  {
    name: 'a call ends twice',
    changes: core(
      'pipeline/pipeline.ts',
      'answered(call: PendingCall, answer: Answer): void {\n    if (call.over) return;',
      'answered(call: PendingCall, answer: Answer): void {',
    ),
    breaks: ['everyCallEndsOnce'],
  },
  {
    name: 'a table forgets keys before they stop counting',
    changes: entries(
      'decided-turn.ts',
      ': expiryOf(entry);',
      ': this.#now + Math.floor((expiryOf(entry) - this.#now) / 2);',
    ),
    breaks: [...BOUNDS, 'neverAboveTheBudget'],
  },
  {
    name: 'a key begins afresh when an override ends',
    changes: core(
      'engine/override.ts',
      '=== undefined ? policyState : state;',
      '=== undefined ? undefined : state;',
    ),
    breaks: BOUNDS,
  },
  {
    name: 'bookings are lost when they are due',
    changes: core(
      'engine/key-state.ts',
      'for (let i = 0; i < due.length; i += 2) this.#spend(how, due[i]!, due[i + 1]!);',
      'void how;',
    ),
    breaks: BOUNDS,
  },
  {
    name: 'a cancelled booking stays in the queue',
    changes: core(
      'engine/key-state.ts',
      'const isCanceled = this.#queue.cancel(this.#counter, at, cost);',
      'const isCanceled = false;',
    ),
    breaks: ['cancelledBookingsLeaveNoTrace'],
  },
  {
    name: 'a permit that is given back after its window counts in the next one',
    changes: core(
      'algorithms/fixed-window/fixed-window.ts',
      'if (at !== ANY && (at >= end! || at < startOf(parameters, end!))) return state;',
      '',
    ),
    breaks: BOUNDS,
  },
  {
    name: 'a decision can be given back twice',
    changes: core('limiter/refunds.ts', 'DecisionRecord.keep(decision, kept);', ''),
    breaks: [...BOUNDS, 'givenBackOnce'],
  },
  {
    name: 'a call that has ended is still counted',
    changes: entries('entry-store.ts', 'ended = calls.filter(({ over }) => !over).map', 'ended = calls.map'),
    breaks: ['countedAtMostOnce', 'everyCallEndsOnce'],
  },
  {
    name: 'a turn is answered before it is kept',
    changes: entries(
      'entry-store.ts',
      'const answer = turn.decide(call);\n      return',
      'const answer = turn.decide(call);\n      call.owner.answered(call, answer);\n      return',
    ),
    breaks: ['answeredAfterItIsKept'],
  },
  {
    name: 'a turn that lost the race keeps its answers',
    changes: entries('entry-store.ts', 'ended = calls.filter(', 'ended ??= calls.filter('),
    breaks: ['answeredAfterItIsKept'],
  },
  {
    name: 'calls that gather during a trip share the deadline of the first',
    changes: entries('turn-queue.ts', 'if (this.#open === turn) this.#open = undefined;', ''),
    breaks: ['everyCallHasItsTime', 'everyCallEndsInTime'],
  },
  {
    name: 'a wait that ends while it subscribes listens without end',
    changes: core(
      'limiter/waiting/lease-queue.ts',
      '          unsubscribe();\n          return;',
      '          return;',
    ),
    first: 41,
    breaks: ['nobodyListensInVain'],
  },
  {
    name: 'a wait that timed out keeps its place',
    changes: core(
      'limiter/waiting/lease-queue.ts',
      "await this.#send('refund', place);\n        return {",
      'return {',
    ),
    breaks: [...BOUNDS, 'endedWaitsHoldNothing'],
  },
  {
    name: 'waiting calls resolve in the order of their timers',
    changes: core(
      'limiter/waiting/wake-order.ts',
      'while (this.calls[ready]?.ready === true) ready += 1;',
      'this.calls.sort((a, b) => Number(b.ready) - Number(a.ready));\n    while (this.calls[ready]?.ready === true) ready += 1;',
    ),
    first: 442,
    breaks: ['waitsEndInOrder'],
  },
  {
    name: 'prefetched permits are used after they should have gone back',
    changes: core(
      'pipeline/prefetch/permit-pool.ts',
      'if (now < block.until && now >= block.sentAt) return block.left;',
      'return block.left;',
    ),
    breaks: ['prefetchedPermitsAreBounded'],
  },
  {
    name: 'a call of several policies takes from those that allow it',
    changes: core(
      'engine/decide.ts',
      'const waits = held',
      'if (taking && keyStates.length > 1) for (const one of keyStates) if (one.ownMoment <= one.now) one.take(one.now);\n    const waits = held',
    ),
    breaks: ['deniedCallsTakeNothing'],
  },
  {
    name: "the failure policy 'local' has the whole limit for each process",
    changes: core(
      'limiter/limits.ts',
      'const local = { ...base, rule: compileShare(policy, failure.share) };',
      'const local = { ...base, rule: own };',
    ),
    breaks: ['failurePoliciesAdmitTheirShare'],
  },
  {
    name: 'closing a store leaves its sweep',
    changes: entries('table-in-use.ts', 'clearTimeout(this.#sweeping);', ''),
    breaks: ['closingEndsAllTimers'],
  },
  {
    name: 'a settle whose reply was lost counts again',
    changes: core('engine/hold.ts', 'if (state[KIND] === SETTLED) return 0;', ''),
    first: 81,
    breaks: ['everyAmountCountsOnce'],
  },
  {
    name: 'a hold takes again when its call is repeated',
    changes: core('engine/hold.ts', 'amount - limit.before).take(now)', 'limit.given).take(now)'),
    breaks: ['everyAmountCountsOnce'],
  },
  {
    name: 'a hold lapses early',
    changes: core(
      'engine/hold.ts',
      'Math.ceil((now + micros) / step)',
      'Math.ceil((now + micros / 2) / step)',
    ),
    breaks: ['neverAboveTheBudget'],
  },
  {
    name: 'settle gives back the latest permits of a log',
    changes: core('engine/hold.ts', "-more, at).refund('refundSince')", '-more, -1).refund()'),
    first: 18,
    breaks: ['neverAboveTheBudget'],
  },
  {
    name: 'a table reads its clock before it has the locks',
    tableFault: 'reads the clock before the locks',
    breaks: ['timeNeverRunsBack', ...BOUNDS],
  },
  {
    name: 'a table keeps a turn although another process was faster',
    tableFault: 'swaps blindly',
    breaks: BOUNDS,
  },
];
