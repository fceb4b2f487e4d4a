import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { type Arrival, Gateway } from './gateway.js';
import { gatewayLimiter, LIMIT, openStore } from './gateway-limiter.js';
import { type Outcome, PaymentClient, sendTo } from './payment-client.js';
import { poll } from './polling.js';
import { work } from './workers.js';

// Four processes wait for the same gateway, which refuses the sixth call in any second of its own clock: by polling, and with
// `acquire`. The limit is exact in all of them. The gateway refuses calls whose delay differs from the delay of earlier calls.

const { REDIS_URL = 'redis://127.0.0.1:6379', CALLS = '2' } = process.env;
const PROCESSES = 4;
const CALLERS = 12;
const SECOND_MS = 1000;

const WAYS = {
  polling: 'asking every 100 ms',
  acquire: 'acquire',
  none: 'acquire, margin: 0',
  twentieth: "acquire, margin: '50ms'",
} as const;
type Way = keyof typeof WAYS;

const [role, way, name, url] = process.argv.slice(2);
process.once('disconnect', () => process.exit());
const roles: Readonly<Record<string, () => Promise<void>>> = { gateway: asGateway, caller: asCaller };
(roles[role!] ?? compare)().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});

async function compare(): Promise<void> {
  console.log(
    `A gateway takes ${LIMIT} calls in any second. ${PROCESSES} processes with ${CALLERS} callers each wait for it.\n`,
  );
  for (const way of Object.keys(WAYS) as Way[]) {
    const arrivals = await arrivalsOf(way);
    const refused = arrivals.filter(({ taken }) => !taken).length;
    const share = ((100 * refused) / arrivals.length).toFixed(0);
    const took = (arrivals.at(-1)!.moment - arrivals[0]!.moment) / SECOND_MS;
    console.log(
      `${WAYS[way].padEnd(24)}${arrivals.length} arrived, ${refused} refused (${share} %), in ${took.toFixed(1)} s`,
    );
  }
}

/** All calls, in the order in which the gateway got them. */
async function arrivalsOf(way: Way): Promise<Arrival[]> {
  const children: ChildProcess[] = [];
  const start = (...args: string[]) => {
    const child = fork(process.argv[1]!, args, { execArgv: [] });
    children.push(child);
    return child;
  };
  try {
    const gateway = start('gateway');
    const url = (await said(gateway)) as string;
    const name = `compare-${randomUUID()}`;
    const callers = Array.from({ length: PROCESSES }, () => start('caller', way, name, url));
    await Promise.all(callers.map(said));
    const done = callers.map(said);
    for (const caller of callers) caller.send('begin');
    await Promise.all(done);
    gateway.send('report');
    return (await said(gateway)) as Arrival[];
  } finally {
    for (const child of children) child.kill();
  }
}

async function said(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  child.once('exit', () => ended.abort(new Error('A process ended before it had finished')));
  const [message] = await once(child, 'message', { signal: ended.signal }).catch(() => {
    throw ended.signal.reason as Error;
  });
  return message;
}

async function asGateway(): Promise<void> {
  const gateway = new Gateway(LIMIT, SECOND_MS);
  const { url } = await gateway.listen();
  process.send!(url);
  await once(process, 'message');
  process.send!(gateway.arrivals);
}

async function asCaller(): Promise<void> {
  const send = sendTo(url!);
  const pay = way === 'polling' ? await paysByPolling(send) : await paysByAcquire(send);
  // Connects, because the first requests of a process are slow.
  for (let i = 0; i < 5; i += 1) {
    await Promise.all(Array.from({ length: CALLERS }, () => fetch(url!, { method: 'HEAD' })));
  }
  process.send!('ready');
  await once(process, 'message');
  await work({ workers: CALLERS, calls: Number(CALLS), pause: 0 }, pay);
  process.send!('done');
}

type Pay = (order: string) => Promise<Outcome>;

async function paysByPolling(send: Pay): Promise<Pay> {
  const redis = new Redis(REDIS_URL);
  await redis.ping();
  return async (order) => {
    await poll(redis, name!, LIMIT, SECOND_MS);
    return send(order);
  };
}

async function paysByAcquire(send: Pay): Promise<Pay> {
  const margin = way === 'none' ? 0 : way === 'twentieth' ? '50ms' : undefined;
  const limiter = gatewayLimiter(openStore(REDIS_URL).store, SECOND_MS, { name: name!, margin });
  await limiter.peek('connected');
  const client = new PaymentClient(limiter, send);
  return (order) => client.pay(order);
}
