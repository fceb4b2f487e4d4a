import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { blockTagged } from '../docs/markdown.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

const page = 'docs/recipes/graphql.md';

interface Answer {
  readonly data: object;
  readonly errors: readonly [{ readonly message: string; readonly extensions: { readonly code: string } }];
}
const answerOf = async (response: Response) => (await response.json()) as Answer;

let modules: string;
beforeAll(async () => {
  modules = await recipePackages();
}, 300_000);

describe.each(['yoga', 'apollo'])('with %s', (tag) => {
  let program: Program;
  beforeEach(async () => {
    const limit = blockTagged(resolve(__dirname, '../../..', page), 'graphql');
    program = await startBlock(page, tag, { modules, files: { 'limit.ts': limit } });
  });
  afterEach(() => program?.stop());

  const post = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${program.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
  const aliases = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: hello`).join(' ');

  test('counts every field that an operation selects, also through fragments', async () => {
    const allowed = await post(`{ ...A } fragment A on Query { ${aliases(150)} }`);
    expect([allowed.status, Object.keys((await answerOf(allowed)).data).length]).toEqual([200, 150]);

    const denied = await post(`{ ${aliases(290)} }`);
    expect([denied.status, denied.headers.get('Retry-After')]).toEqual([
      429,
      expect.stringMatching(/^[1-4]$/),
    ]);
    expect(await denied.json()).toMatchObject({
      errors: [{ message: 'Too many fields', extensions: { code: 'RATE_LIMITED' } }],
    });
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
      const most = `{ ${aliases(290)} }`;
      const ann = { Authorization: 'Bearer a-token-of-ann' };
      const invented = { Authorization: 'Bearer another' };
      const statuses = [];
      for (const headers of [{}, ann, ann, invented]) statuses.push((await post(most, headers)).status);
      expect(statuses).toEqual([200, 200, 429, 429]);
    });
  }

  test('refuses fragments that double 40 times, and documents that are not valid', async () => {
    const doubling = Array.from(
      { length: 40 },
      (_, i) => `fragment F${i} on Query { ...F${i + 1} ... on Query { ...F${i + 1} } }`,
    );
    const large = await post(`{ ...F0 } ${doubling.join(' ')} fragment F40 on Query { hello }`);
    expect([large.status, (await answerOf(large)).errors[0].extensions.code]).toEqual([
      400,
      'TOO_MANY_FIELDS',
    ]);

    const circle = await post('{ ...A } fragment A on Query { ...A }');
    expect((await answerOf(circle)).errors[0].message).toMatch(/^Cannot spread fragment "A" within itself/);
  });
});
