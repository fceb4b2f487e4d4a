import { createRequire } from 'node:module';
import { join } from 'node:path';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

const page = 'docs/recipes/graphql.md';

interface Answer {
  readonly data: object;
  readonly errors: readonly [{ readonly message: string; readonly extensions: { readonly code: string } }];
  readonly extensions: { readonly cost: object };
}
const answerOf = async (response: Response) => (await response.json()) as Answer;

let modules: string;
beforeAll(async () => {
  modules = await recipePackages();
}, 300_000);

describe.each(['yoga', 'apollo'])('with %s', (tag) => {
  let program: Program;
  beforeEach(async () => {
    program = await startBlock(page, tag, { modules });
  });
  afterEach(() => program?.stop());

  const post = (query: string, headers: Record<string, string> = {}, variables = {}) =>
    fetch(`${program.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables }),
    });
  const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: hello`).join(' ');

  test('takes the cost of an operation, and gives back what it did not return', async () => {
    const allowed = await answerOf(await post('{ words(first: 50) { text } }'));
    expect(allowed.extensions.cost).toEqual({
      requestedQueryCost: 51,
      actualQueryCost: 2,
      throttleStatus: { maximumAvailable: 1000, currentlyAvailable: 998, restoreRate: 50 },
    });
  });

  test('denies with a status, a time and the cost, also through fragments', async () => {
    const allowed = await post(`{ ...A } fragment A on Query { ${aliases(600)} }`);
    expect([allowed.status, Object.keys((await answerOf(allowed)).data).length]).toEqual([200, 600]);

    const denied = await post(`{ ${aliases(800)} }`);
    expect([denied.status, denied.headers.get('Retry-After')]).toEqual([
      429,
      expect.stringMatching(/^[1-9]$/),
    ]);
    const { errors, extensions } = await answerOf(denied);
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(
          /^This operation costs 808, and (?:39|4\d)\d of 1000 are left\. Retry in \d s$/,
        ),
        extensions: { code: 'THROTTLED', retryAfter: Number(denied.headers.get('Retry-After')) },
      }),
    ]);
    expect(extensions.cost).toMatchObject({ requestedQueryCost: 808, actualQueryCost: null });
  });

  test('answers the introspection query that tools send, with all its options', async () => {
    const { getIntrospectionQuery } = createRequire(join(modules, 'graphql/package.json'))('graphql');
    const every = { schemaDescription: true, directiveIsRepeatable: true, inputValueDeprecation: true };
    const answer = await post(getIntrospectionQuery({ ...every, oneOf: true }));
    expect([answer.status, (await answerOf(answer)).data]).toEqual([
      200,
      { __schema: expect.objectContaining({ queryType: expect.objectContaining({ name: 'Query' }) }) },
    ]);
  });

  if (tag === 'yoga') {
    test('a signed-in user and an address have counts of their own', async () => {
      const most = `{ ${aliases(990)} }`;
      const ann = { Authorization: 'Bearer a-token-of-ann' };
      const invented = { Authorization: 'Bearer another' };
      const statuses = [];
      for (const headers of [{}, ann, ann, invented]) statuses.push((await post(most, headers)).status);
      expect(statuses).toEqual([200, 200, 429, 429]);
    });
  }

  test('refuses fragments that double 40 times, 100,000 fields, and documents that are not valid', async () => {
    const doubling = Array.from(
      { length: 40 },
      (_, i) => `fragment F${i} on Query { ...F${i + 1} ... on Query { ...F${i + 1} } }`,
    );
    const large = await post(`{ ...F0 } ${doubling.join(' ')} fragment F40 on Query { hello }`);
    const many = await post(`{ ${Array.from({ length: 100_000 }, (_, i) => `a${i}:hello`).join(' ')} }`);
    const codes = [];
    for (const answer of [large, many])
      codes.push([answer.status, (await answerOf(answer)).errors[0].extensions.code]);
    expect(codes).toEqual(Array(2).fill([400, 'MAX_COST_EXCEEDED']));

    const circle = await post('{ ...A } fragment A on Query { ...A }');
    expect((await answerOf(circle)).errors[0].message).toMatch(/^Cannot spread fragment "A" within itself/);
  });

  test('takes nothing for an operation that the execution refuses', async () => {
    const query = 'query ($n: Int!) { words(first: $n) { text } }';
    for (const n of [1.5, -1e300, 'many', null]) {
      const refused = await answerOf(await post(query, {}, { n }));
      expect([refused.errors.length, refused.extensions?.cost]).toEqual([1, undefined]);
    }
    const { extensions } = await answerOf(await post(query, {}, { n: 1 }));
    expect(extensions.cost).toMatchObject({ throttleStatus: { currentlyAvailable: 998 } });
  });
});
