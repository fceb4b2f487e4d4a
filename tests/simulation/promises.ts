import { deniedCallsTakeNothing } from './invariants/all-or-nothing.js';
import { neverAboveTheLimit } from './invariants/bounds.js';
import { everyAmountCountsOnce, neverAboveTheBudget } from './invariants/budgets.js';
import { fiveFailuresOpenTheCircuit, theStoreDecidesAgain } from './invariants/circuit.js';
import { timeNeverRunsBack } from './invariants/clock.js';
import { closingEndsAllTimers, everythingComesBack, nobodyListensInVain } from './invariants/closing.js';
import { answeredAfterItIsKept, countedAtMostOnce, everyCallEndsOnce } from './invariants/counted-once.js';
import { everyCallEndsInTime, everyCallHasItsTime } from './invariants/deadlines.js';
import { cachedDenialsEndInTime } from './invariants/deny-cache.js';
import { failurePoliciesAdmitTheirShare } from './invariants/fallback.js';
import {
  cancelledBookingsLeaveNoTrace,
  endedWaitsHoldNothing,
  givenBackOnce,
} from './invariants/given-back.js';
import { neverOneHolderTooMany } from './invariants/holders.js';
import { firstComeFirstServed, waitsEndInOrder, waitsEndWhenTheyAreDue } from './invariants/order.js';
import { prefetchedPermitsAreBounded } from './invariants/prefetch.js';

/** Every promise that a run is judged by. */
export const PROMISES = {
  timeNeverRunsBack,
  neverAboveTheLimit,
  neverOneHolderTooMany,
  neverAboveTheBudget,
  everyAmountCountsOnce,
  everyCallEndsInTime,
  everyCallHasItsTime,
  everyCallEndsOnce,
  countedAtMostOnce,
  answeredAfterItIsKept,
  deniedCallsTakeNothing,
  failurePoliciesAdmitTheirShare,
  firstComeFirstServed,
  waitsEndInOrder,
  waitsEndWhenTheyAreDue,
  cachedDenialsEndInTime,
  fiveFailuresOpenTheCircuit,
  theStoreDecidesAgain,
  prefetchedPermitsAreBounded,
  givenBackOnce,
  cancelledBookingsLeaveNoTrace,
  endedWaitsHoldNothing,
  everythingComesBack,
  nobodyListensInVain,
  closingEndsAllTimers,
};
