import { envelop, type Plugin, useEngine, useSchema } from '@envelop/core';
import { concurrency, fixedWindow, RateLimiter } from '@sluice/core';
import { buildSchema, type ExecutionResult, execute, parse, subscribe, validate } from 'graphql';
import { rejection } from '../../../tests/support/rejection.js';
import { costLimit } from './index.js';

const schema = buildSchema('type Query { hello: String }  type Mutation { order: String }');
const operation = { schema, contextValue: {}, variableValues: {} };

let limiter: RateLimiter;
beforeEach(() => {
  limiter = new RateLimiter({ name: 'points', policy: fixedWindow({ limit: 15, window: '1h' }) });
});
afterEach(() => limiter.close());

const limitOf = () => costLimit({ limiter, key: () => 'ann', defaults: { leaf: 0 } });
const remaining = async () => (await limiter.peek('ann')).remaining;

/** What a server with Envelop passes to plugins, for the execution. */
function engine(execute: () => unknown = () => ({ data: null })) {
  const own = {
    executeFn: execute,
    setExecuteFn(wrapped: () => unknown) {
      own.executeFn = wrapped;
    },
  };
  return own;
}

describe('the plugin of Envelop', () => {
  test('keeps the requested cost of a result that comes in parts', async () => {
    const started = await limitOf().envelop.onExecute({
      ...engine(),
      args: { ...operation, document: parse('mutation { order }') },
      setResultAndStopExecution: () => {},
    });
    const setResult = jest.fn();
    const result = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }) }) };
    started!.onExecuteDone({ result, setResult });
    expect([setResult.mock.calls, await remaining()]).toEqual([[], 5]);
  });

  test.each([
    ['a WebSocket', { socket: {} }],
    ['no transport', undefined],
  ])('sends no status over %s', async (_, contextValue) => {
    const denied: ExecutionResult[] = [];
    const document = parse('mutation { a: order b: order }');
    const started = await limitOf().envelop.onExecute({
      ...engine(),
      args: { ...operation, document, contextValue },
      setResultAndStopExecution: (result) => denied.push(result),
    });
    expect([started, denied[0]?.errors?.[0]?.extensions]).toEqual([undefined, { code: 'MAX_COST_EXCEEDED' }]);
  });

  const rejecting: Plugin = { onExecute: () => Promise.reject(new Error('no rights')) };
  const stopping: Plugin = {
    onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data: { order: 'cached' } }),
  };
  /** As a compiler of operations does. */
  const executing: Plugin = {
    onExecute: ({ setExecuteFn }) => setExecuteFn(() => Promise.reject(new Error('compiled'))),
  };
  const unwatched: Plugin = {};

  test.each([
    ['costs nothing if a later plugin throws', rejecting, 'no rights', 15],
    ['costs nothing if a later plugin stops it', stopping, { data: { order: 'cached' } }, 15],
    ['costs nothing if an earlier plugin stops it', stopping, { data: { order: 'cached' } }, 15, true],
    ['costs its points if a later plugin executes it', executing, 'compiled', 5],
    ['costs its points', unwatched, { data: { order: null }, extensions: expect.anything() }, 5],
  ])('an operation %s', async (_, other, answer, left, isFirst = false) => {
    const own = limitOf().envelop;
    const plugins = isFirst ? [other, own] : [own, other];
    const server = envelop({
      plugins: [useEngine({ parse, validate, execute, subscribe }), useSchema(schema), ...plugins],
    })({});
    const args = { schema, document: parse('mutation { order }'), contextValue: {} };
    const ran = (async () => server.execute(args))().catch(({ message }) => message);
    expect([await ran, await remaining()]).toEqual([answer, left]);
  });

  test('two limits both count', async () => {
    const other = new RateLimiter({ name: 'other', policy: fixedWindow({ limit: 15, window: '1h' }) });
    const limits = [limitOf(), costLimit({ limiter: other, key: () => 'ann', defaults: { leaf: 0 } })];
    const server = envelop({
      plugins: [
        useEngine({ parse, validate, execute, subscribe }),
        useSchema(schema),
        ...limits.map((limit) => limit.envelop),
      ],
    })({});
    await server.execute({ schema, document: parse('mutation { order }'), contextValue: {} });
    expect([await remaining(), (await other.peek('ann')).remaining]).toEqual([5, 5]);
    await other.close();
  });

  test('keeps its place inside a plugin that wraps it', () => {
    const own = limitOf().envelop;
    const plugins = [{ onPluginInit: (init: { plugins: unknown[] }) => own.onPluginInit(init) }];
    plugins[0]!.onPluginInit({ plugins });
    expect(plugins).toEqual([{ onPluginInit: expect.any(Function) }]);
  });

  test('throws for a schema whose costs are invalid', () => {
    const limit = costLimit({ limiter, key: () => 'ann', costs: { 'Query.helo': 1 } });
    expect(() => limit.envelop.onSchemaChange({ schema })).toThrow(/no type or field 'Query\.helo'$/);
  });
});

describe('the plugin of Apollo Server', () => {
  async function requestOf(text: string) {
    const document = parse(text);
    const hooks = await limitOf().apollo.requestDidStart();
    const resolve = () =>
      hooks.didResolveOperation({ schema, document, contextValue: {}, request: {}, operation: undefined });
    const send = async (singleResult: ExecutionResult, kind = 'single') => {
      const body = { kind, singleResult };
      await hooks.willSendResponse({ response: { body } });
      return body.singleResult;
    };
    return { hooks, resolve, send };
  }

  test('gives the points of an operation back that another plugin stopped', async () => {
    const { resolve, send } = await requestOf('mutation { order }');
    await resolve();
    expect(await remaining()).toBe(5);
    const stopped = { errors: [] };
    expect([await send(stopped), await remaining()]).toEqual([stopped, 15]);
  });

  test('keeps the requested cost of a result that comes in parts', async () => {
    const { hooks, resolve, send } = await requestOf('mutation { order }');
    await resolve();
    await hooks.executionDidStart();
    const first = { data: { order: null } };
    expect([await send(first, 'incremental'), await remaining()]).toEqual([first, 5]);
  });

  test('adds the cost to the extensions of a result, and of a denial', async () => {
    const ran = await requestOf('mutation { order }');
    await ran.resolve();
    await ran.hooks.executionDidStart();
    const result = await ran.send({ data: { order: 'a' }, extensions: { other: 1 } });
    expect(result.extensions).toMatchObject({ other: 1, cost: { actualQueryCost: 10 } });

    const denied = await requestOf('mutation { order }');
    const error = await rejection(denied.resolve());
    expect(error).toMatchObject({
      extensions: { code: 'THROTTLED', http: { status: 429, headers: expect.any(Map) } },
    });
    const answer = await denied.send({ errors: [], extensions: { other: 1 } });
    expect(answer.extensions).toMatchObject({ other: 1, cost: { actualQueryCost: null } });
  });

  test('gives the points back if another plugin refuses the operation while they are taken', async () => {
    const { resolve, send } = await requestOf('mutation { order }');
    const resolved = resolve();
    await send({ errors: [] }); // Apollo Server does not wait for the other plugins
    await resolved;
    expect(await remaining()).toBe(15);
  });

  test('sends the answer of an operation whose key fails', async () => {
    const limit = costLimit({ limiter, key: () => Promise.reject(new Error('no key')) });
    const hooks = await limit.apollo.requestDidStart();
    const document = parse('mutation { order }');
    const failed = rejection(hooks.didResolveOperation({ ...operation, document, request: {} }));
    const body = { kind: 'single', singleResult: { errors: [] } };
    await hooks.willSendResponse({ response: { body } });
    expect([await failed, body.singleResult]).toEqual([new Error('no key'), { errors: [] }]);
  });

  test('leaves the answer to a document that is not valid as it is', async () => {
    const { send } = await requestOf('{ hello }');
    expect([await send({ errors: [] }), await remaining()]).toEqual([{ errors: [] }, 15]);
  });

  test('throws when the server starts for a schema whose costs are invalid', async () => {
    const { apollo } = costLimit({ limiter, key: () => 'ann', costs: { 'Query.helo': 1 } });
    const { schemaDidLoadOrUpdate } = await apollo.serverWillStart();
    expect(() => schemaDidLoadOrUpdate({ apiSchema: schema })).toThrow(/no type or field 'Query\.helo'$/);
  });
});

describe('a permit of concurrency', () => {
  const atOnce = new RateLimiter({ name: 'at-once', policy: concurrency({ limit: 10, lease: '1h' }) });
  const limit = costLimit({ limiter: atOnce, key: () => 'ann', defaults: { leaf: 0 } });
  const free = async () => (await atOnce.peek('ann')).remaining;
  const document = parse('mutation { order }');
  const starting = { ...engine(), args: { ...operation, document }, setResultAndStopExecution: () => {} };
  afterAll(() => atOnce.close());

  test('is released with the result, also if that costs what was requested', async () => {
    const started = await limit.envelop.onExecute(starting);
    expect(await free()).toBe(0);
    const setResult = jest.fn();
    started!.onExecuteDone({ result: { data: { order: 'a' } }, setResult });
    expect(setResult.mock.calls[0][0].extensions.cost).toMatchObject({ actualQueryCost: 10 });
    expect(await free()).toBe(10);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('aborted');
      },
    ],
    ['rejects', () => Promise.reject(new Error('aborted'))],
  ])('is released if the execution %s', async (_, execute) => {
    const running = engine(execute);
    await limit.envelop.onExecute({ ...starting, ...running });
    expect(await free()).toBe(0);
    await expect((async () => running.executeFn())()).rejects.toThrow('aborted');
    expect(await free()).toBe(10);
  });

  test('leaves an execution that needs no promise without one', async () => {
    const running = engine(() => ({ data: { order: 'a' } }));
    const started = await limit.envelop.onExecute({ ...starting, ...running });
    const result = running.executeFn();
    expect(result).toEqual({ data: { order: 'a' } });
    started!.onExecuteDone({ result, setResult: () => {} });
    expect(await free()).toBe(10);
  });

  test('is released with the first part of a result, and when a subscription begins', async () => {
    const started = await limit.envelop.onExecute(starting);
    const result = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true }) }) };
    started!.onExecuteDone({ result, setResult: () => {} });
    expect(await free()).toBe(10);
    await limit.envelop.onSubscribe(starting);
    expect(await free()).toBe(10);

    const hooks = await limit.apollo.requestDidStart();
    await hooks.didResolveOperation({ ...operation, document, request: {} });
    expect(await free()).toBe(0);
    await hooks.executionDidStart();
    await hooks.willSendResponse({ response: { body: { kind: 'incremental' } } });
    expect(await free()).toBe(10);
  });
});
