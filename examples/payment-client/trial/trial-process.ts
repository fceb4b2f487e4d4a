import { gatewayLimiter, openStore } from '../src/gateway-limiter.js';
import { type Outcome, PaymentClient, sendTo } from '../src/payment-client.js';
import { work } from '../src/workers.js';
import { type Booked, bookings, noting } from './booked-store.js';

// One of the four processes of the trial: `processes.deep.test.ts` bundles this file and starts it.

/** The outcome of a call of this process, in the order of its calls. */
export interface TrialCall extends Booked {
  readonly outcome: Outcome;
}

async function main(name: string, redisUrl: string, gatewayUrl: string): Promise<void> {
  // Without a margin each call starts at the first possible moment.
  const limiter = gatewayLimiter(noting(openStore(redisUrl).store), '100ms', { name, margin: 0 });
  // The gateway uses the booked moments: the delay of a busy machine is no fault of the limiter.
  const headers = () => ({ 'X-Moment': String(bookings.getStore()!.at) });
  const client = new PaymentClient(limiter, sendTo(gatewayUrl, headers));

  process.on('message', async (way: 'consume' | 'acquire') => {
    const calls: (Booked & { outcome?: Outcome })[] = [];
    const pay = (order: string) => (way === 'consume' ? client.payNow(order) : client.pay(order));
    const pause = way === 'consume' ? 100 : 0;
    await work({ workers: 25, calls: 5, pause }, async (order) => {
      const call: (typeof calls)[number] = { now: 0, at: 0 };
      calls.push(call);
      call.outcome = await bookings.run(call, () => pay(order));
    });
    process.send!(calls);
  });
  process.once('disconnect', () => process.exit());
  await limiter.peek('connected');
  process.send!('ready');
}

void main(...(process.argv.slice(2) as [string, string, string]));
