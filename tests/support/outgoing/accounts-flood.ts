import { fixedWindow, memoryStore } from '../../../packages/core/src/index.js';
import { standardHeaders, upstream } from '../../../packages/outgoing/src/index.js';

// Many accounts of one upstream, and others after them. `accounts.deep.test.ts` bundles this file and runs it with `--expose-gc`.

const [FIRST, OTHERS] = process.argv.slice(2).map(Number) as [number, number];
const MAX_KEYS = 30_000;

/** What the service answers by turns: others have used the account, the account must wait, its budget is used up, or nothing. */
const ANSWERS = [
  { status: 200, headers: { 'x-ratelimit-limit': '40', 'x-ratelimit-remaining': '20' } },
  { status: 429, headers: { 'retry-after': '600' } },
  { status: 200, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '600' } },
  { status: 200, headers: {} },
] as const;
/** Calls after which the event loop turns, as in a server. */
const TURN = 100;

const turn = () => new Promise((done) => setImmediate(done));

/** Bytes that are in use, without garbage. */
async function heapUsed(): Promise<number> {
  await turn();
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
}

async function main(): Promise<void> {
  const store = memoryStore({ maxKeys: MAX_KEYS });
  const client = upstream({
    name: 'flood',
    origin: 'https://api.example.com',
    store,
    reads: [standardHeaders({ scope: 'account' })],
    limits: { requests: fixedWindow({ limit: 50, window: '1h' }) },
    concurrency: 2,
    retry: false,
  });
  let [sent, most] = [0, 0];
  const send = () => {
    sent += 1;
    return Promise.resolve(ANSWERS[sent % ANSWERS.length]!);
  };
  const flood = async (from: number, to: number) => {
    for (let i = from; i < to; i += 1) {
      // Each account has credentials of its own, and each call a route of its own.
      const headers = { authorization: `Bearer ${i}-${'x'.repeat(100)}` };
      await client.run({ url: `/things/a${i}`, headers }, send);
      most = Math.max(most, store.size);
      if (i % TURN === 0) await turn();
    }
    return heapUsed();
  };
  const before = await flood(0, FIRST);
  const after = await flood(FIRST, FIRST + OTHERS);
  const { length: known } = await client.state();
  console.log(JSON.stringify({ sent, most, known, before, after }));
  await client.close();
  await store.close();
}

void main();
