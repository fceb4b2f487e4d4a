import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { chart } from './chart.js';
import { Gateway } from './gateway.js';
import { gatewayLimiter, LIMIT, openStore } from './gateway-limiter.js';
import { type Outcome, PaymentClient, sendTo } from './payment-client.js';
import { work } from './workers.js';

// Shows what arrives at a gateway that refuses the sixth call in any second. With REDIS_URL four processes call it.

const { REDIS_URL } = process.env;
const PROCESSES = REDIS_URL ? 4 : 1;
const WORKERS = 8;
const SECOND_MS = 1000;
/** Waiting calls pass this much later, because the network may delay one call more than the next. */
const MARGIN_MS = 100;

type Way = 'unlimited' | 'consume' | 'acquire';

const [role, way, url] = process.argv.slice(2);
(role === 'worker' ? asWorker(way as Way, url!) : demo()).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});

async function demo(): Promise<void> {
  await calls('consume').catch((cause: Error) => {
    throw new Error(`Cannot use the Redis at ${REDIS_URL}: ${cause.message}`, { cause });
  });
  const processes = REDIS_URL ? `${PROCESSES} processes on one Redis` : 'one process';
  console.log(
    `A gateway takes ${LIMIT} calls in any second; ${WORKERS} workers in ${processes} make two each.\n`,
  );
  await show('Without a limiter', 'unlimited');
  await show('With consume, without waiting', 'consume');
  await sleep(SECOND_MS); // the next part begins with an empty window
  await show('With acquire, first come, first served', 'acquire');
}

async function show(title: string, way: Way): Promise<void> {
  const gateway = new Gateway(LIMIT, SECOND_MS);
  const server = await gateway.listen();
  const run = REDIS_URL ? inProcesses : calls;
  const outcomes = await run(way, server.url).finally(server.close);
  const count = (outcome: Outcome) => `${outcomes.filter((other) => other === outcome).length} ${outcome}`;
  console.log(
    `${title}: ${count('paid')}, ${count('refused by the gateway')}, ${count('denied by the limiter')}`,
  );
  console.log(`${chart(gateway.arrivals)}\n`);
}

/** The work of one process. Without a `url` it only checks that the store answers. */
async function calls(way: Way, url?: string): Promise<Outcome[]> {
  const { store, close } = openStore(REDIS_URL);
  const limiter = gatewayLimiter(store, SECOND_MS, { margin: MARGIN_MS });
  try {
    await limiter.peek('connected');
    if (url === undefined) return [];
    const client = new PaymentClient(limiter, sendTo(url));
    await fetch(url, { method: 'HEAD' }); // connects, because the first request of a process is slow and would arrive together with the next
    return await work({ workers: WORKERS / PROCESSES, calls: 2, pause: 500 }, (order) => {
      if (way === 'unlimited') return client.send(order);
      return way === 'consume' ? client.payNow(order) : client.pay(order);
    });
  } finally {
    await limiter.close();
    await close();
  }
}

async function inProcesses(way: Way, url: string): Promise<Outcome[]> {
  const outcomes = Array.from({ length: PROCESSES }, () => {
    const child = fork(process.argv[1]!, ['worker', way, url]);
    return new Promise<Outcome[]>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Outcome[]));
      child.once('exit', (code) => reject(new Error(`A worker process ended with exit code ${code}`)));
    });
  });
  return (await Promise.all(outcomes)).flat();
}

async function asWorker(way: Way, url: string): Promise<void> {
  process.send!(await calls(way, url));
  process.disconnect();
}
