import { decidingContract } from './deciding.suite.js';
import { REPRESENTATIVES, type StoreKind } from './harness.js';
import { holdingContract } from './holding.suite.js';
import { refundContract } from './refunds.suite.js';
import { waitingContract } from './waiting.suite.js';

/** What a client of Redis could change: how it connects, sends scripts, reads replies and listens. */
export function clientContract(client: StoreKind): void {
  const kind = { ...client, algorithms: REPRESENTATIVES };
  describe('deciding', () => decidingContract(kind));
  describe('waiting', () => waitingContract(kind));
  describe('refunds', () => refundContract(kind));
  describe('holding', () => holdingContract(kind));
}
