import { envelop, useEngine, useSchema } from '@envelop/core';
import { buildSchema, type ExecutionResult, execute, parse, subscribe, validate } from 'graphql';
import { ManualClock, RateLimiter, type Store, tokenBucket } from '../../../packages/core/src/index.js';
import { type CostLimitOptions, costLimit } from '../../../packages/graphql/src/index.js';
import { shopifyHeaders } from '../../../packages/outgoing/src/index.js';
import { viewOf } from '../../../packages/outgoing/src/reading/response-view.js';
import type { StoreKind } from '../../contracts/store/harness.js';
import { uniqueName } from '../../support/redis-url.js';

const SCHEMA = buildSchema(`
  type Query { items(first: Int): [Item!]  fails: Item }
  type Mutation { order(first: Int): [Item!]! }
  type Subscription { changed(first: Int): [Item!] }
  type Item { id: ID!  broken: Item! }
`);

/** How many items there are. */
const ITEMS = 20;

const rootValue = {
  items: ({ first }: { first: number }) =>
    Array.from({ length: Math.min(first, ITEMS) }, (_, id) => ({ id: String(id), broken: null })),
  order: () => {
    throw new Error('no such order');
  },
  changed: async function* () {
    yield { changed: [] };
  },
  fails: () => {
    throw new Error('it fails');
  },
};

interface Context {
  readonly user: string;
  readonly plan?: 'large';
  readonly request?: { readonly method: string };
}

/** What a limit on costs promises to a server with Envelop, on a kind of store. */
export function graphqlSuite(kind: StoreKind): void {
  describe(`operations, counted on ${kind.name}`, () => {
    let clock: ManualClock;
    const limiters: RateLimiter[] = [];
    let store: Store;
    beforeEach(() => {
      clock = new ManualClock();
      store = kind.open(clock);
    });
    afterEach(async () => {
      for (const limiter of limiters.splice(0)) {
        await limiter.peek('ann'); // its answer comes after the corrections that are on their way
        await limiter.close();
      }
      await store.close();
    });

    function points(capacity = 100, name = uniqueName('graphql')): RateLimiter {
      const policy = tokenBucket({ capacity, refill: 10, every: '1s' });
      const limiter = new RateLimiter({ name, policy, store, deadline: '10s' });
      limiters.push(limiter);
      return limiter;
    }

    /** A server: it runs an operation for a user. */
    function serve(options: Partial<CostLimitOptions<Context>> = {}) {
      const limit = costLimit<Context>({
        limiter: points(),
        key: ({ user }) => user,
        defaults: { leaf: 0 },
        ...options,
      });
      const server = envelop({
        plugins: [useEngine({ parse, validate, execute, subscribe }), useSchema(SCHEMA), limit.envelop],
      });
      return async (text: string, context: Context = { user: 'ann' }, variableValues = {}) => {
        const { schema, contextFactory, ...engine } = server(context);
        const args = { schema, document: engine.parse(text), rootValue, variableValues };
        const run = text.startsWith('subscription') ? engine.subscribe : engine.execute;
        return (await run({ ...args, contextValue: await contextFactory() })) as ExecutionResult;
      };
    }

    const costOf = ({ extensions }: ExecutionResult) => extensions?.cost;
    const codes = ({ errors = [] }: ExecutionResult) => errors.map((error) => error.extensions.code);

    test('take their requested cost, and get back what they did not return', async () => {
      const run = serve();
      const first = await run('{ items(first: 60) { id } }');
      expect(first.data?.items).toHaveLength(ITEMS);
      expect(costOf(first)).toEqual({
        requestedQueryCost: 60,
        actualQueryCost: 20,
        throttleStatus: { maximumAvailable: 100, currentlyAvailable: 80, restoreRate: 10 },
      });
      expect(
        costOf(await run('query ($n: Int) { items(first: $n) { id } }', undefined, { n: 70 })),
      ).toMatchObject({
        requestedQueryCost: 70,
        actualQueryCost: 20,
        throttleStatus: { currentlyAvailable: 60 },
      });
    });

    test('are denied with the time until their cost is there', async () => {
      const run = serve();
      await run('{ items(first: 20) { id } }');
      const denied = await run('{ items(first: 95) { id } }');
      expect(denied).toEqual({
        errors: [
          expect.objectContaining({
            message: 'This operation costs 95, and 80 of 100 are left. Retry in 2 s',
            extensions: { code: 'THROTTLED', retryAfter: 2 },
          }),
        ],
        extensions: {
          cost: {
            requestedQueryCost: 95,
            actualQueryCost: null,
            throttleStatus: { maximumAvailable: 100, currentlyAvailable: 80, restoreRate: 10 },
          },
        },
      });
      await clock.advance('1500ms');
      expect(codes(await run('{ items(first: 95) { id } }'))).toEqual([]);
    });

    test('above the limit are denied without a time, and take nothing', async () => {
      const run = serve();
      const denied = await run('{ items(first: 101) { id } }');
      expect(denied.errors?.[0]).toMatchObject({
        message: 'This operation costs 101, and an operation may cost at most 100',
        extensions: { code: 'MAX_COST_EXCEEDED' },
      });
      expect(denied.errors?.[0]?.extensions).not.toHaveProperty('retryAfter');
      expect(codes(await run('{ items(first: 100) { id } }'))).toEqual([]);
    });

    test('that return more than requested leave a debt', async () => {
      const run = serve({ listSizes: { 'Query.items': { assumedSize: 1 } } });
      const many = Array.from({ length: 6 }, (_, i) => `a${i}: items(first: 20) { id }`).join(' ');
      expect(costOf(await run(`{ ${many} }`))).toMatchObject({
        requestedQueryCost: 6,
        actualQueryCost: 120,
        throttleStatus: { currentlyAvailable: 0 },
      });
      expect((await run('{ items(first: 1) { id } }')).errors?.[0]?.extensions).toMatchObject({
        retryAfter: 3,
      });
      await clock.advance('2100ms');
      expect(codes(await run('{ items(first: 1) { id } }'))).toEqual([]);
    });

    test('of each key have points of their own, which all processes share', async () => {
      const name = uniqueName('graphql');
      const [here, there] = [serve({ limiter: points(100, name) }), serve({ limiter: points(100, name) })];
      expect(codes(await here('{ items(first: 20) { id } }'))).toEqual([]);
      expect(codes(await there('{ items(first: 81) { id } }'))).toEqual(['THROTTLED']);
      expect(codes(await there('{ items(first: 81) { id } }', { user: 'bob' }))).toEqual([]);
    });

    test('of a plan take the points of its limiter', async () => {
      const [small, large] = [points(10), points(1000)];
      const run = serve({ limiter: ({ plan }) => (plan === 'large' ? large : small) });
      expect(codes(await run('{ items(first: 11) { id } }'))).toEqual(['MAX_COST_EXCEEDED']);
      expect(codes(await run('{ items(first: 900) { id } }', { user: 'ann', plan: 'large' }))).toEqual([]);
    });

    test('with errors get nothing back', async () => {
      const run = serve();
      const failed = await run('{ items(first: 30) { broken { id } } fails { id } }');
      expect([failed.data?.items, costOf(failed)]).toMatchObject([
        null,
        { requestedQueryCost: 61, actualQueryCost: 61 },
      ]);
      const order = await run('mutation { order(first: 5) { id } }');
      expect([order.data, costOf(order)]).toMatchObject([
        null,
        { requestedQueryCost: 15, actualQueryCost: 15, throttleStatus: { currentlyAvailable: 24 } },
      ]);
    });

    test('that the execution refuses take nothing', async () => {
      const run = serve();
      const refused = await run('query ($n: Int!) { items(first: $n) { id } }', undefined, { n: 1.5 });
      expect([refused.errors?.length, costOf(refused)]).toEqual([1, undefined]);
      expect(codes(await run('{ items(first: 100) { id } }'))).toEqual([]);
    });

    test('over HTTP have a status and a Retry-After for Yoga', async () => {
      const run = serve();
      const http = { user: 'ann', request: { method: 'POST' } };
      const statuses = [];
      for (const first of [20, 95, 101]) {
        const { errors } = await run(`{ items(first: ${first}) { id } }`, http);
        statuses.push(errors?.[0]?.extensions.http);
      }
      expect(statuses).toEqual([
        undefined,
        { status: 429, headers: { 'retry-after': '2' } },
        { status: 400, headers: {} },
      ]);
    });

    test('that subscribe take the cost of one event', async () => {
      const run = serve();
      const events = () => run('subscription { changed(first: 60) { id } }');
      await events();
      expect(codes(await events())).toEqual(['THROTTLED']);
    });

    test('a hundred at once never take more than there is', async () => {
      const run = serve();
      const results = await Promise.all(
        Array.from({ length: 100 }, () => run('{ items(first: 15) { id } }')),
      );
      const passed = results.filter((result) => codes(result).length === 0);
      expect(passed).toHaveLength(6);
      expect(new Set(results.flatMap(codes))).toEqual(new Set(['THROTTLED']));
    });

    test('are understood by a client of @sluice/outgoing as those of Shopify', async () => {
      const run = serve();
      await run('{ items(first: 20) { id } }');
      const body = JSON.stringify(await run('{ items(first: 95) { id } }'));
      const read = shopifyHeaders(viewOf({ status: 200, headers: {} }, clock.now(), body));
      expect(read).toMatchObject({
        observed: [{ dimension: 'points', limit: 100, remaining: 80 }],
        refusal: { kind: 'limit', reason: 'THROTTLED' },
      });
    });
  });
}
