import { fixedWindow, memoryStore } from '../../../packages/core/src/index.js';
import { standardHeaders, upstream } from '../../../packages/outgoing/src/index.js';

// Many accounts of one upstream. `accounts.deep.test.ts` bundles this file and runs it with a small heap.

const ACCOUNTS = Number(process.argv[2]);
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
  for (let i = 0; i < ACCOUNTS; i += 1) {
    // Each account has credentials of its own, and each call a route of its own.
    const headers = { authorization: `Bearer ${i}-${'x'.repeat(100)}` };
    await client.run({ url: `/things/a${i}`, headers }, send);
    most = Math.max(most, store.size);
    if (i % TURN === 0) await new Promise((done) => setImmediate(done));
  }
  const { length: known } = await client.state();
  console.log(JSON.stringify({ sent, most, known }));
  await client.close();
  await store.close();
}

void main();
