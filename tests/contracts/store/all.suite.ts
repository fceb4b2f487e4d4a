import { closedContract } from './closed.suite.js';
import { combinedContract } from './combined.suite.js';
import { concurrentContract } from './concurrent.suite.js';
import { debugContract } from './debug.suite.js';
import { decidingContract } from './deciding.suite.js';
import { escalatingContract } from './escalating.suite.js';
import { escalatingCombinedContract } from './escalating-combined.suite.js';
import type { StoreKind } from './harness.js';
import { holdingContract } from './holding.suite.js';
import { liveContract } from './live.suite.js';
import { overridingContract } from './overriding.suite.js';
import { refundContract } from './refunds.suite.js';
import { reservingContract } from './reserving.suite.js';
import { runningContract } from './running.suite.js';
import { savingContract } from './saving.suite.js';
import { severalPoliciesContract } from './several-policies.suite.js';
import { waitingContract } from './waiting.suite.js';

/** What every store must do, with every algorithm. Each topic has a describe of its own, because hooks apply to a whole describe. */
export function storeContract(kind: StoreKind): void {
  describe(kind.name, () => {
    describe('deciding', () => decidingContract(kind));
    describe('calls of several processes at once', () => concurrentContract(kind));
    describe('waiting', () => waitingContract(kind));
    describe('waiting beyond the capacity', () => savingContract(kind));
    describe('refunds', () => refundContract(kind));
    describe('reserving', () => reservingContract(kind));
    describe('overriding', () => overridingContract(kind));
    describe('escalating', () => escalatingContract(kind));
    describe('escalating beside held permits', () => escalatingCombinedContract(kind));
    describe('debug', () => debugContract(kind));
    describe('closed', () => closedContract(kind));
    describe('several policies', () => severalPoliciesContract(kind));
    describe('several limiters', () => combinedContract(kind));
    describe('holding', () => holdingContract(kind));
    describe('by its own clock', () => liveContract(kind));
    describe('running', () => runningContract(kind));
  });
}
