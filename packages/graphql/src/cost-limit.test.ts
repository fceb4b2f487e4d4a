import { setImmediate } from 'node:timers/promises';
import { fixedWindow, RateLimiter } from '@sluice/core';
import { StoreHealth } from '@sluice/core/internal';
import {
  buildSchema,
  execute,
  GraphQLError,
  type GraphQLScalarType,
  type GraphQLSchema,
  parse,
} from 'graphql';
import { eventually } from '../../../tests/support/eventually.js';
import { farStore } from '../../../tests/support/far-store.js';
import { rejection } from '../../../tests/support/rejection.js';
import { warned } from '../../../tests/support/warned.js';
import { type CostLimitOptions, costLimit } from './index.js';

const DIRECTIVES = `
  directive @cost(weight: String!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION
`;
const SHOP = buildSchema(`${DIRECTIVES}
  type Query {
    hello: String!
    product: Product
    media: Media
    products(first: Int, last: Int, limit: Int): Products!
    some(ids: [ID!]): [Product!]! @listSize(slicingArguments: ["ids"])
    page(first: Int, last: Int): [Product!]! @listSize(assumedSize: 5, slicingArguments: ["first", "last"])
    search(text: String, fuzzy: Boolean @cost(weight: "7")): [Result!]! @cost(weight: "20") @listSize(assumedSize: 3)
    found(ids: [ID!]): [Product]! @listSize(slicingArguments: ["ids"])
    tags: [String!]!
    grid: [[Product!]!]!
  }
  type Mutation { login(code: Int): Boolean  rename: Product }
  type Subscription { changed: Product }
  type Products { edges: [Edge!]!  nodes: [Product!]!  pageInfo: PageInfo! }
  type Edge { node: Product! }
  type PageInfo { hasNextPage: Boolean! }
  type Product { id: ID!  name: String  reviews: [Review!]!  next: Product  offer(code: ID!): Product  options: Json }
  type Review { text: String!  product: Product }
  type Report @cost(weight: "50") { id: ID!  rows: [Row!]! @cost(weight: "0.5") }
  type Row { id: ID! }
  scalar Json @cost(weight: "2")
  interface Media { id: ID!  play(hd: Boolean): String }
  type Song implements Media { id: ID!  play(hd: Boolean): String }
  type Film implements Media { id: ID!  play(hd: Boolean @cost(weight: "3")): String @cost(weight: "30") }
  union Result = Product | Report
`);

const opened: RateLimiter[] = [];
afterEach(() => Promise.all(opened.splice(0).map((limiter) => limiter.close())));

function limitOf(options: Partial<CostLimitOptions<unknown>> = {}) {
  const limiter = new RateLimiter({ name: 'points', policy: fixedWindow({ limit: 1000, window: '1h' }) });
  opened.push(limiter);
  return costLimit({ limiter, key: () => 'ann', ...options });
}

/** The cost before an operation runs. */
const costOf = (text: string, variableValues = {}, options: Partial<CostLimitOptions<unknown>> = {}) =>
  limitOf(options).cost({ schema: SHOP, document: parse(text), variableValues })?.cost;

/** The cost of what it returned. */
const actualOf = (text: string, data: unknown) =>
  limitOf()
    .cost({ schema: SHOP, document: parse(text) })
    ?.actual(data);

describe('the cost of an operation', () => {
  test.each([
    ['a root field that returns a scalar', '{ hello }', 1],
    ['each alias of it', '{ a: hello b: hello c: hello }', 3],
    ['an object', '{ product { id name } }', 1],
    ['objects in objects', '{ product { next { next { id } } } }', 3],
    ['a list of the usual size', '{ product { reviews { text } } }', 11],
    ['a list of lists, as one list', '{ grid { id } }', 10],
    [
      'the lists of a connection by its argument',
      '{ products(first: 50) { nodes { id } pageInfo { hasNextPage } } }',
      53,
    ],
    ['edges and their nodes', '{ products(last: 40) { edges { node { id } } } }', 81],
    [
      'a connection through fragments',
      '{ products(first: 50) { ...A } } fragment A on Products { ... { nodes { id } } }',
      52,
    ],
    ['a connection without its argument', '{ products { nodes { id } } }', 11],
    ['the largest of several arguments', '{ products(first: 2, last: 30) { nodes { id } } }', 31],
    ['the largest valid one of several', '{ products(first: -1, last: 5000) { nodes { id } } }', 5051],
    ['the usual size above a smaller valid one', '{ products(first: 2, limit: -1) { nodes { id } } }', 11],
    ['one item, if an argument says none', '{ products(first: 0) { nodes { id } } }', 2],
    ['one item, if an argument lists none', '{ some(ids: []) { id } }', 1],
    ['nothing of a list that nothing selects', '{ products(first: 0) { pageInfo { hasNextPage } } }', 2],
    ['as many items as an argument lists', '{ some(ids: [1, 2, 3, 4]) { id } }', 4],
    ['lists within lists', '{ page(first: 3) { reviews { text } } }', 33],
    ['the weight of a field once, its items each', '{ search(text: "a") { ... on Product { id } } }', 170],
    ['the weight of an argument that is passed', '{ search(fuzzy: true) { ... on Product { id } } }', 177],
    [
      'the most expensive type of a union',
      '{ search { ... on Product { next { id } } ... on Report { rows { id } } } }',
      202,
    ],
    ['a field of an interface as of its most expensive type', '{ media { play(hd: true) } }', 34],
    [
      'the most expensive type of an interface',
      '{ media { id ... on Song { play } ... on Film { play } } }',
      31,
    ],
    ['a scalar with a weight', '{ product { options } }', 3],
    ['each mutation', 'mutation { a: login(code: 1) b: login(code: 2) }', 20],
    ['a mutation that returns an object', 'mutation { rename { id } }', 11],
    ['a subscription', 'subscription { changed { id } }', 1],
    [
      'nothing that is skipped',
      '{ hello product @skip(if: true) { id } ...A @include(if: false) } fragment A on Query { grid { id } }',
      1,
    ],
    ['the schema, without its lists', '{ __schema { types { fields { name } } } __typename }', 3],
  ])('counts %s', (_, text, cost) => {
    expect(costOf(text)).toBe(cost);
  });

  test('takes the size of a list of an interface from the type with the longest one', () => {
    const schema = buildSchema(`${DIRECTIVES}
      type Query { node: Node  own: Own  silent: Silent  little: Little  page: Page  short: Short }
      interface Node { items(first: Int): [Item!] }
      type A implements Node { items(first: Int): [Item!] @listSize(assumedSize: 1000) }
      type B implements Node { items(first: Int): [Item!] }
      interface Own { items: [Item!] @listSize(assumedSize: 3) }
      type C implements Own { items: [Item!] @listSize(assumedSize: 50) }
      interface Silent { items: [Item!] @listSize(assumedSize: 3) }
      type F implements Silent { items: [Item!] }
      interface Little { items: [Item!] }
      type G implements Little { items: [Item!] @listSize(assumedSize: 3) }
      interface Page { nodes: [Item!] }
      type D implements Page { nodes: [Item!] }
      interface Short { items: [Item!] }
      type E implements Short { items(first: Int): [Item!] @listSize(slicingArguments: ["first"]) }
      type Item { id: ID }
    `);
    const costIn = (text: string) => limitOf().cost({ schema, document: parse(text) })?.cost;
    expect(costIn('{ node { items { id } } }')).toBe(1011); // 1 + 1000 × 1.01
    expect(costIn('{ node { items(first: 2000) { id } } }')).toBe(2021);
    expect(costIn('{ own { items { id } } }')).toBe(52); // 1 + 50 × 1.01
    expect(costIn('{ silent { items { id } } }')).toBe(4); // of the interface, which alone says a size
    expect(costIn('{ little { items { id } } }')).toBe(4);
    expect(costIn('{ page { nodes { id } } }')).toBe(11);
    expect(costIn('{ short { items { id } } }')).toBe(11); // it has no argument that a client could give
  });

  test('takes the weight of a field of an interface from its most expensive type, also beside its own weight', () => {
    const schema = buildSchema(`${DIRECTIVES}
      type Query { media: Media  cheap: Cheap }
      interface Media { play(hd: Boolean): String @cost(weight: "1") }
      type Song implements Media { play(hd: Boolean): String }
      type Film implements Media { play(hd: Boolean @cost(weight: "3")): String @cost(weight: "30") }
      interface Cheap { play(hd: Boolean @cost(weight: "4")): String @cost(weight: "5") }
      type Clip implements Cheap { play(hd: Boolean): String @cost(weight: "2") }
    `);
    const costIn = (text: string) => limitOf().cost({ schema, document: parse(text) });
    const media = costIn('{ media { play } }');
    expect([media?.cost, media?.actual({ media: { play: 'film.mp4' } })]).toEqual([31, 31]); // 1 + 30 + 0.01, rounded
    expect(costIn('{ media { play(hd: true) } }')?.cost).toBe(34);
    expect(costIn('{ cheap { play } }')?.cost).toBe(6);
    expect(costIn('{ cheap { play(hd: true) } }')?.cost).toBe(10);
    const options = { costs: { 'Media.play': 2, 'Film.play': ({ hd }: { hd?: unknown }) => (hd ? 60 : 40) } };
    const configured = limitOf(options).cost({ schema, document: parse('{ media { play(hd: true) } }') });
    expect(configured?.cost).toBe(64); // 1 + 60 + 3 + 0.01, rounded
  });

  test('counts scalars: a hundred are one object', () => {
    const fields = Array.from({ length: 1000 }, (_, i) => `f${i}: name`).join(' ');
    expect(costOf(`{ product { ${fields} } }`)).toBe(11);
  });

  test.each([
    ['its variable', { n: 40 }, 41],
    ['its default', {}, 6],
    ['the usual size, if it is negative', { n: -1 }, 11],
    ['the usual size, if it is null', { n: null }, 11],
    ['a huge variable', { n: 2_147_483_647 }, 2_168_958_484],
  ])('takes the size of a list from %s', (_, variables, cost) => {
    expect(costOf('query ($n: Int = 5) { products(first: $n) { nodes { id } } }', variables)).toBe(cost);
  });

  test('rounds a size that is a fraction up', () => {
    const schema = buildSchema(
      'type Query { points(first: Float, limit: String): [Point] } type Point { id: ID }',
    );
    const costIn = (args: string) =>
      limitOf().cost({ schema, document: parse(`{ points(${args}) { id } }`) })?.cost;
    expect([costIn('first: 900.9'), costIn('limit: "899.5"'), costIn('first: 1e-9')]).toEqual([910, 909, 1]);
  });

  test.each([[{ n: Number.NaN }], [{ n: 1.5 }], [{ n: '3' }], [{ n: 1e300 }], [{ n: [1] }], [{ n: {} }]])(
    'is unknown for the variables %p, which the execution refuses',
    async (variables) => {
      const text = 'query ($n: Int) { products(first: $n) { nodes { id } } }';
      expect(costOf(text, variables)).toBeUndefined();
      const admission = await limitOf().admit({
        ...{ schema: SHOP, document: parse(text), variableValues: variables, contextValue: {} },
      });
      const { errors } = await execute({ schema: SHOP, document: parse(text), variableValues: variables });
      expect([admission.denied, errors?.length]).toEqual([undefined, 1]);
    },
  );

  test('is unknown for an operation that the document does not have', () => {
    const document = parse('query A { hello } query B { hello }');
    const limit = limitOf();
    expect(limit.cost({ schema: SHOP, document })).toBeUndefined();
    expect(limit.cost({ schema: SHOP, document, operationName: 'C' })).toBeUndefined();
    expect(limit.cost({ schema: SHOP, document, operationName: 'B' })?.cost).toBe(1);
  });

  test('obeys the options before the directives', () => {
    const options = {
      costs: {
        'Query.search': ({ text }: Readonly<Record<string, unknown>>) => String(text).length,
        Product: 4,
        Report: 0,
      },
      listSizes: { 'Query.search': { assumedSize: 2 } },
      defaults: { leaf: 0, listSize: 100 },
    };
    expect(costOf('{ search(text: "abc") { ... on Product { id reviews { text } } } }', {}, options)).toBe(
      3 + 2 * 104,
    );
  });

  test.each(['{ page { id } }', '{ page(first: 1, last: 1) { id } }'])(
    'is refused without exactly one slicing argument: %s',
    async (text) => {
      expect(() => costOf(text)).toThrow(/^Query\.page takes exactly one of the arguments first, last$/);
      const admission = await limitOf().admit({ schema: SHOP, document: parse(text), contextValue: {} });
      expect(admission.denied).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
    },
  );

  test('of a function that returns no number fails, and names the field', () => {
    const options = { costs: { 'Query.hello': () => Number.NaN } };
    expect(() => costOf('{ hello }', {}, options)).toThrow(
      /^The cost of Query\.hello must be a number from 0 .*, not NaN$/,
    );
  });
});

describe('the cost of a result', () => {
  const product = { id: '1', name: 'a' };

  test.each<[string, string, unknown, number]>([
    [
      'the items that came',
      '{ products(first: 50) { nodes { id } } }',
      { products: { nodes: [product, product] } },
      3,
    ],
    ['an empty list', '{ products(first: 50) { nodes { id } } }', { products: { nodes: [] } }, 1],
    ['a null as no object', '{ product { next { id } } }', { product: { next: null } }, 1],
    [
      'a root field that found nothing as one object',
      '{ product { id } hello }',
      { product: null, hello: 'a' },
      2,
    ],
    [
      'a lookup below that found nothing as one object',
      '{ product { offer(code: "x") { id } } }',
      { product: { offer: null } },
      2,
    ],
    [
      'an empty list of a root field as one item',
      '{ a: tags b: some(ids: [1, 2]) { id } }',
      { a: [], b: [] },
      2,
    ],
    [
      'each null of a list that was looked up',
      '{ found(ids: [1, 2, 3]) { id } }',
      { found: [null, { id: '1' }, null] },
      3,
    ],
    ['calls that returned null', 'mutation { a: login b: login }', { a: null, b: null }, 20],
    [
      'more items than were requested',
      '{ product { reviews { text } } }',
      { product: { reviews: Array(500).fill({ text: 'a' }) } },
      506,
    ],
    ['lists of lists', '{ grid { id } }', { grid: [[product, product], [product]] }, 3],
    ['a list of scalars', '{ tags }', { tags: Array(300).fill('a') }, 4],
    ['a scalar that is a list as one', '{ product { options } }', { product: { options: [1, 2, 3] } }, 3],
    [
      'fields of fragments once',
      '{ product { next { id } ...A } } fragment A on Product { next { name } }',
      { product: { next: product } },
      2,
    ],
    ['names of aliases', '{ a: product { b: next { id } } }', { a: { b: product } }, 2],
    ['what other plugins add as nothing', '{ hello }', { hello: 'a', more: [1, 2] }, 1],
    [
      'each object of the schema as a scalar',
      '{ __schema { types { name fields { type { name } } } } }',
      {
        __schema: { types: Array(99).fill({ name: 'a', fields: [{ type: { name: 'b' } }, { type: null }] }) },
      },
      8, // 4 as requested, and 1 + 99 × 4 objects
    ],
    [
      'the fields of each type',
      '{ search { ... on Product { next { id } } ... on Report { id } } }',
      { search: [{ next: product }, { id: '1' }] },
      121,
    ],
  ])('counts %s', (_, text, data, cost) => {
    expect(actualOf(text, data)).toBe(cost);
  });
});

describe('hostile documents', () => {
  test('of fragments that double 40 times cost more than any limit, and are read once', async () => {
    const doubling = Array.from(
      { length: 40 },
      (_, i) => `fragment F${i} on Product { a: next { ...F${i + 1} } b: next { ...F${i + 1} } }`,
    );
    const document = parse(`{ product { ...F0 } } ${doubling.join(' ')} fragment F40 on Product { id }`);
    const admission = await limitOf().admit({ schema: SHOP, document, contextValue: {} });
    expect(admission.denied).toMatchObject({
      errors: [
        {
          message: expect.stringMatching(/^This operation costs 2\d{12}, and/),
          extensions: { code: 'MAX_COST_EXCEEDED' },
        },
      ],
      extensions: { cost: { actualQueryCost: null, throttleStatus: { currentlyAvailable: 1000 } } },
    });
  });

  test('of lists within lists cost a whole number that a limiter accepts', async () => {
    const list = (levels: number): string =>
      levels === 0 ? '{ id }' : `{ reviews { product ${list(levels - 1)} } }`;
    const document = parse(`{ product ${list(60)} }`);
    const limit = limitOf();
    expect(limit.cost({ schema: SHOP, document })?.cost).toBe(Number.MAX_SAFE_INTEGER);
    expect((await limit.admit({ schema: SHOP, document, contextValue: {} })).denied).toMatchObject({
      errors: [{ extensions: { code: 'MAX_COST_EXCEEDED' } }],
    });
  });

  test.each([
    ['a circle of fragments', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
    [
      'a fragment that contains itself below a field',
      '{ product { ...A } } fragment A on Product { next { ...A } }',
    ],
    ['deep nesting', `{ product ${'{ next '.repeat(300)}{ id }${' }'.repeat(300)} }`],
    [
      'a long chain of fragments, however it is referred to',
      `{ ${Array.from({ length: 2000 }, (_, i) => `...F${1999 - i}`).join(' ')} } ${Array.from({ length: 2000 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} }`).join(' ')} fragment F2000 on Query { hello }`,
    ],
  ])('with %s are refused', async (_, text) => {
    const admission = await limitOf().admit({ schema: SHOP, document: parse(text), contextValue: {} });
    expect(admission.denied).toEqual({ errors: [expect.any(GraphQLError)] });
    expect(admission.denied?.errors?.[0]?.extensions).toEqual({ code: 'TOO_DEEP' });
  });

  test('with a list of wrong values in a variable are read up to the first errors', async () => {
    const schema = buildSchema('scalar Code type Query { codes(of: [Code!]): Int }');
    let read = 0;
    (schema.getType('Code') as GraphQLScalarType).parseValue = () => {
      read += 1;
      throw new TypeError('a code has six digits');
    };
    const document = parse('query ($of: [Code!]) { codes(of: $of) }');
    const variableValues = { of: Array.from({ length: 10_000 }, () => '') };
    const operation = { schema, document, variableValues, contextValue: {} };
    expect(await limitOf().admit(operation)).not.toHaveProperty('denied'); // the execution refuses it
    expect(read).toBeLessThan(10);
  });

  test('with a fragment that a document does not have cost nothing for it', () => {
    expect(costOf('{ hello ...Missing ... on Nothing { a } nothing { a } }')).toBe(2);
  });

  test('with names that every object has are counted as other names', () => {
    expect(costOf('{ toString: hello __proto__: product { constructor: id } }')).toBe(2);
    expect(actualOf('{ toString: product { id } }', { toString: { id: '1' } })).toBe(1);
  });
});

describe('a selection set is read once', () => {
  /** A document that counts how often the selections of its sets are read. */
  function counted(text: string) {
    const document = parse(text, { noLocation: true });
    const reads = { sets: 0, most: 0 };
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const value of Object.values(node)) visit(value);
      const { kind, selections } = node as { kind?: string; selections?: unknown };
      if (kind !== 'SelectionSet') return;
      reads.sets += 1;
      let own = 0;
      const get = () => {
        own += 1;
        reads.most = Math.max(reads.most, own);
        return selections;
      };
      Object.defineProperty(node, 'selections', { get });
    };
    visit(document);
    return { document, reads };
  }
  const times = (count: number, textOf: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => textOf(i)).join(' ');

  test.each([
    ['of 10,000 aliases of a list', `{ ${times(10_000, (i) => `a${i}: page(first: ${i}) { id }`)} }`, 10_001],
    [
      'of a fragment below 2,000 connections of different sizes',
      `{ ${times(2000, (i) => `a${i}: products(first: ${i}) { ...A }`)} } fragment A on Products { ${times(2000, (i) => `b${i}: nodes { id }`)} }`,
      4002,
    ],
    [
      'of fragments that double 90 times',
      `{ product { ...F0 } } ${times(90, (i) => `fragment F${i} on Product { ...F${i + 1} ... { ...F${i + 1} } }`)} fragment F90 on Product { id }`,
      183,
    ],
  ])('%s', (_, text, sets) => {
    const { document, reads } = counted(text);
    expect(limitOf().cost({ schema: SHOP, document })?.cost).toBeGreaterThan(0);
    expect(reads).toEqual({ sets, most: 1 });
  });
});

describe('a store that is out', () => {
  const operation = { schema: SHOP, document: parse('{ product { reviews { text } } }'), contextValue: {} };

  function far(options: { failurePolicy?: 'deny' } = {}) {
    const store = farStore(options.failurePolicy && { health: new StoreHealth(() => undefined) });
    const policy = fixedWindow({ limit: 100, window: '1h' });
    const limiter = new RateLimiter({ name: 'far', policy, store: store.store, ...options });
    opened.push(limiter);
    return { ...store, limit: limitOf({ limiter }) };
  }

  test('denies under the failure policy deny, with a text that blames nobody', async () => {
    const { limit, fail } = far({ failurePolicy: 'deny' });
    fail();
    const { denied } = await limit.admit(operation);
    expect(denied).toEqual({
      errors: [expect.objectContaining({ message: 'Operations cannot run at present' })],
    });
    expect(denied?.errors?.[0]?.extensions).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      retryAfter: expect.any(Number),
    });
  });

  test('when a result is corrected causes a warning, and the result stays', async () => {
    const { limit, refuse, operations } = far();
    const admission = await limit.admit(operation);
    refuse('refund');
    const warnings = await warned(async () => {
      const { data, extensions } = admission.finish({ data: { product: { reviews: [] } } });
      expect([data, extensions?.cost]).toMatchObject([{ product: { reviews: [] } }, { actualQueryCost: 1 }]);
      await eventually(async () => operations.includes('refund'));
      await setImmediate();
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^Limit 'far' could not correct the cost of an operation: StoreUnavailableError/),
    ]);
  });
});

test('an operation that did not run gives its points back', async () => {
  const limit = limitOf();
  const operation = {
    schema: SHOP,
    document: parse('{ products(first: 900) { nodes { name } } }'),
    contextValue: {},
  };
  const first = await limit.admit(operation);
  expect((await limit.admit(operation)).denied).toBeDefined();
  first.cancel();
  expect((await limit.admit(operation)).denied).toBeUndefined();
});

test('an operation that selects no items counts, and what its resolver returned is taken', async () => {
  const schema = buildSchema('type Query { users(first: Int): [User!]! }  type User { id: ID }');
  const rootValue = { users: ({ first }: { first: number }) => Array(first || 600).fill({ id: 1 }) };
  const operation = { schema, document: parse('{ users(first: 0) { id } }'), contextValue: {} };
  const limit = limitOf();
  const denied = [];
  for (let i = 0; i < 3; i += 1) {
    const admission = await limit.admit(operation);
    denied.push(admission.denied !== undefined);
    if (admission.denied === undefined) admission.finish(await execute({ ...operation, rootValue }));
    await setImmediate();
  }
  expect(denied).toEqual([false, false, true]);
});

test('lookups that find nothing use the points up', async () => {
  const text = (field: string) =>
    `{ ${Array.from({ length: 99 }, (_, i) => `a${i}: ${field} { id }`).join(' ')} }`;
  for (const [field, nothing] of [
    ['found(ids: [7])', [null]],
    ['some(ids: [7])', []],
    ['product', null],
  ] as const) {
    const limit = limitOf();
    const operation = { schema: SHOP, document: parse(text(field)), contextValue: {} };
    const data = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`a${i}`, nothing]));
    let admitted = 0;
    for (let i = 0; i < 12; i += 1) {
      const admission = await limit.admit(operation);
      if (admission.denied !== undefined) continue;
      admitted += 1;
      admission.finish({ data });
      await setImmediate();
    }
    expect([field, admitted]).toEqual([field, 10]);
  }
});

test('an operation that is free calls no limiter', async () => {
  const key = jest.fn(() => 'ann');
  const limit = limitOf({ key, costs: { 'Query.hello': 0 }, defaults: { leaf: 0 } });
  const admission = await limit.admit({ schema: SHOP, document: parse('{ hello }'), contextValue: {} });
  expect([admission.finish({ data: { hello: 'a' } }), key.mock.calls]).toEqual([
    { data: { hello: 'a' } },
    [],
  ]);
});

test('a key that is missing fails the operation', async () => {
  const limit = limitOf({ key: () => undefined as never });
  const failed = limit.admit({ schema: SHOP, document: parse('{ hello }'), contextValue: {} });
  expect(await rejection(failed)).toMatchObject({ code: 'SLUICE_KEY_RESOLUTION' });
});

describe('costLimit', () => {
  test.each<[unknown, RegExp]>([
    [
      {},
      /^costLimit: limiter must be a limiter, such as new RateLimiter\(\{ … \}\), or a function that returns one, not undefined$/,
    ],
    [{ limiter: {} }, /^costLimit: limiter must be/],
    [{ limiter: () => opened[0] }, /^costLimit: pass key, such as \(context\) => context\.userId$/],
    [{ limiter: () => opened[0], key: 'ann' }, /^costLimit: key must be a function, not "ann"$/],
    [{ limiter: () => opened[0], keys: 'ann' }, /^costLimit has no option 'keys'; did you mean 'key'\?$/],
  ])('refuses %p', (options, message) => {
    expect(() => costLimit(options as CostLimitOptions<unknown>)).toThrow(message);
  });

  test.each<[object, RegExp]>([
    [{ costs: [] }, /^costLimit: costs must be an object by 'Type\.field', not an array$/],
    [
      { costs: { 'Query.hello': -1 } },
      /^costLimit: costs\['Query\.hello'\] must be a number from 0 to 9007199254740991, not -1$/,
    ],
    [{ costs: { Product: '1' } }, /^costLimit: costs\['Product'\] must be a number from 0 to .*, not "1"$/],
    [{ defaults: { leaf: Number.NaN } }, /^costLimit: defaults\.leaf must be a number .*, not NaN$/],
    [
      { defaults: { list: 1 } },
      /^costLimit: defaults has no option 'list'; its options are object, leaf, mutation, listSize$/,
    ],
    [
      { listSizes: { 'Query.page': { slicingArguments: 'first' } } },
      /slicingArguments must be a list of names, not "first"$/,
    ],
    [
      { listSizes: { 'Query.page': { assumedSize: -5 } } },
      /^costLimit: listSizes\['Query\.page'\]: assumedSize must be a number/,
    ],
  ])('refuses the costs %p', (options, message) => {
    expect(() => limitOf(options)).toThrow(message);
  });

  test.each<[string, GraphQLSchema | string, object, RegExp]>([
    [
      'a field that it has not',
      SHOP,
      { costs: { 'Query.helo': 1 } },
      /^costLimit: the schema has no type or field 'Query\.helo'$/,
    ],
    [
      'a function for a type',
      SHOP,
      { costs: { Product: () => 1 } },
      /^costLimit: costs\['Product'\] must be a number$/,
    ],
    [
      'an argument that it has not',
      SHOP,
      { listSizes: { 'Query.page': { slicingArguments: ['top'] } } },
      /^costLimit: Query\.page has no argument 'top'/,
    ],
    [
      'a weight that is no number',
      'type Query { a: Int @cost(weight: "many") }',
      {},
      /^@cost of Query\.a: weight "many" must be a number .*, not NaN$/,
    ],
    [
      'a weight below 0',
      'type Query { a(b: Int @cost(weight: "-3")): Int }',
      {},
      /^@cost of Query\.a\(b:\): weight "-3" must be/,
    ],
    [
      'a size below 0',
      'type Query { a: [Int] @listSize(assumedSize: -1) }',
      {},
      /^@listSize of Query\.a: assumedSize must be/,
    ],
    [
      'a weight that would not count',
      'type Query { a(b: In): Int } input In { c: Int @cost(weight: "1") }',
      {},
      /^@cost of the input field 'c' would not count: give the argument a cost/,
    ],
  ])('refuses a schema with %s', (_, schema, options, message) => {
    const built = typeof schema === 'string' ? buildSchema(DIRECTIVES + schema) : schema;
    expect(() => limitOf(options).check(built)).toThrow(message);
  });
});
