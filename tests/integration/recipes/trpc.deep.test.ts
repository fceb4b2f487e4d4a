import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

let program: Program;
beforeEach(async () => {
  const replace = { "every: '1s'": "every: '1h'" };
  program = await startBlock('docs/recipes/trpc.md', 'trpc', { modules: await recipePackages(), replace });
}, 300_000);
afterEach(() => program?.stop());

interface Answer {
  readonly result?: { readonly data: string };
  readonly error?: {
    readonly message: string;
    readonly data: { readonly code: string; readonly retryAfter: number };
  };
}

test('a denied procedure is a 429 with Retry-After, and costs count', async () => {
  const call = async (path: string) => {
    const response = await fetch(`${program.url}/${path}`);
    return { response, answer: (await response.json()) as Answer };
  };
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
