import { closedContract } from './store-closed.js';
import { combinedContract } from './store-combined.js';
import { debugContract } from './store-debug.js';
import { decidingContract } from './store-deciding.js';
import { escalatingContract } from './store-escalating.js';
import { escalatingCombinedContract } from './store-escalating-combined.js';
import { holdingContract } from './store-holding.js';
import { liveContract } from './store-live.js';
import { overridingContract } from './store-overriding.js';
import { refundContract } from './store-refunds.js';
import { reservingContract } from './store-reserving.js';
import { runningContract } from './store-running.js';
import { savingContract } from './store-saving.js';
import type { StoreKind } from './store-setup.js';
import { severalPoliciesContract } from './store-several-policies.js';
import { waitingContract } from './store-waiting.js';

/** What every store must do, with every algorithm. Each topic has a describe of its own, because hooks apply to a whole describe. */
export function storeContract(kind: StoreKind): void {
  describe(kind.name, () => {
    describe('deciding', () => decidingContract(kind));
    describe('waiting', () => waitingContract(kind));
    describe('saving up', () => savingContract(kind));
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
