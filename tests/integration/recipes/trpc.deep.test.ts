import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { blockTagged } from '../docs/markdown.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

const PAGE = 'docs/recipes/trpc.md';

/** What the tests use of `@trpc/client`. */
interface Trpc {
  createTRPCUntypedClient(options: { links: unknown[] }): { query(path: string): Promise<unknown> };
  httpLink(options: { url: string }): unknown;
  httpBatchLink(options: { url: string }): unknown;
}

interface TrpcError extends Error {
  readonly data: { readonly code: string; readonly httpStatus: number; readonly retryAfter: number };
  readonly meta: { readonly response: Response };
}

let modules: string;
let trpc: Trpc;
beforeAll(async () => {
  modules = await recipePackages();
  trpc = createRequire(join(modules, '@trpc/client/package.json'))('@trpc/client');
}, 300_000);
let program: Program;
async function start(replace: Readonly<Record<string, string>> = {}): Promise<void> {
  program = await startBlock(PAGE, 'trpc', {
    modules,
    replace: { "every: '1s'": "every: '1h'", ...replace },
  });
}
afterEach(() => program?.stop());

interface Answer {
  readonly result?: { readonly data: string };
  readonly error?: {
    readonly message: string;
    readonly data: { readonly code: string; readonly retryAfter: number };
  };
}

const call = async (path: string) => {
  const response = await fetch(`${program.url}/${path}`);
  return { response, answer: (await response.json()) as Answer };
};

test('a denied procedure is a 429 with Retry-After, and costs count', async () => {
  await start();
  expect((await call('report')).answer.result?.data).toBe('of May');
  for (let i = 0; i < 10; i += 1) expect((await call('hello')).answer.result?.data).toBe('world');
  const { response, answer } = await call('hello');
  expect(response.status).toBe(429);
  const seconds = Number(response.headers.get('Retry-After'));
  expect(seconds).toBeGreaterThan(300);
  expect(seconds).toBeLessThanOrEqual(360);
  expect(answer.error).toMatchObject({
    message: 'Too many calls of hello',
    data: { code: 'TOO_MANY_REQUESTS', retryAfter: seconds },
  });
});

test('each call of a batch counts, and only those that are denied fail', async () => {
  await start();
  const paths = Array.from({ length: 30 }, () => 'hello').join();
  const response = await fetch(`${program.url}/${paths}?batch=1`);
  const answers = (await response.json()) as Answer[];
  expect([response.status, response.headers.get('Retry-After')]).toEqual([
    207,
    expect.stringMatching(/^3[0-6]\d$/),
  ]);
  expect(answers.map(({ result }) => result?.data)).toEqual([
    ...Array(20).fill('world'),
    ...Array(10).fill(undefined),
  ]);
});

test("tRPC's own client gets the seconds to wait in the data of the error", async () => {
  await start();
  const client = trpc.createTRPCUntypedClient({ links: [trpc.httpLink({ url: program.url })] });
  expect(await client.query('report')).toBe('of May');
  expect(await client.query('report')).toBe('of May');
  const error = await client.query('report').then(
    () => Promise.reject(new Error('the call was allowed')),
    (reason: TrpcError) => reason,
  );
  expect([error.name, error.message]).toEqual(['TRPCClientError', 'Too many calls of report']);
  const { code, httpStatus, retryAfter } = error.data;
  expect([code, httpStatus, Number.isInteger(retryAfter)]).toEqual(['TOO_MANY_REQUESTS', 429, true]);
  expect(error.meta.response.headers.get('Retry-After')).toBe(String(retryAfter));
});

test("in a batch of tRPC's own client only the denied calls reject", async () => {
  await start();
  const client = trpc.createTRPCUntypedClient({ links: [trpc.httpBatchLink({ url: program.url })] });
  const calls = await Promise.allSettled(Array.from({ length: 30 }, () => client.query('hello')));
  expect(calls.map((call) => (call.status === 'fulfilled' ? call.value : call.reason.data.code))).toEqual([
    ...Array(20).fill('world'),
    ...Array(10).fill('TOO_MANY_REQUESTS'),
  ]);
});

test('a procedure that would wait too long is a 429 with Retry-After, and a shorter wait passes', async () => {
  const waiting = blockTagged(resolve(__dirname, '../../..', PAGE), 'trpc-wait');
  await start({
    'const router': `${waiting}\nconst router`,
    'limited(calls': 'waiting(calls',
    'refill: 10, every': 'refill: 3600, every',
  });
  for (let i = 0; i < 22; i += 1) expect((await call('hello')).answer.result?.data).toBe('world');
  const { response, answer } = await call('report');
  expect([response.status, Number(response.headers.get('Retry-After'))]).toEqual([429, expect.any(Number)]);
  expect(answer.error).toMatchObject({
    message: 'Too many calls of report',
    data: { code: 'TOO_MANY_REQUESTS', retryAfter: Number(response.headers.get('Retry-After')) },
  });
});
