import { redisStore, slidingLog } from '@sluice/core';
import { standardHeaders, upstream } from '@sluice/outgoing';

/** What a process of the fleet does. */
export interface Work {
  readonly name: string;
  readonly origin: string;
  readonly url: string;
  readonly calls: number;
  /** Calls at once. */
  readonly width: number;
  /** Calls a second that it believes its account has; undefined: none. */
  readonly perSecond?: number;
}

async function main({ name, origin, url, calls, width, perSecond }: Work): Promise<void> {
  const store = redisStore(url);
  const client = upstream({
    name,
    origin,
    store,
    reads: [standardHeaders({ scope: 'account' })],
    timeout: '2m',
    deadline: '5s',
    // On a busy machine calls leave late, and together, so the service refuses some of them often.
    retry: { attempts: 20, budget: { tokens: 10_000 } },
    ...(perSecond !== undefined && { limits: { requests: slidingLog({ limit: perSecond, window: '1s' }) } }),
  });
  let left = calls;
  const statuses: Record<string, number> = {};
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const response = await client.fetch('/work');
      await response.text();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: width }, caller));
  console.log(JSON.stringify(statuses));
  await client.close();
  await store.close();
}

void main(JSON.parse(process.argv[2]!) as Work);
