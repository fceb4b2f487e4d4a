import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { concurrency, fixedWindow, ManualClock, memoryStore, RateLimiter } from '@sluice/core';
import { StoreHealth } from '@sluice/core/internal';
import { eventually } from '../../../tests/support/eventually.js';
import { farStore } from '../../../tests/support/far-store.js';
import { heapUsed } from '../../../tests/support/heap-used.js';
import { rejection } from '../../../tests/support/rejection.js';
import { limitTools, type ToolLimitsOptions, toolLimits } from './index.js';

const TWO = { perCredential: fixedWindow({ limit: 2, window: '1h' }) };
const info = { name: 'test', version: '1.0.0' };

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** @param auth what a sign-in knows of the token, with each message */
async function clientOf(server: { connect(transport: Transport): Promise<void> }, auth?: () => AuthInfo) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const send = theirs.send.bind(theirs);
  theirs.send = (message) => send(message, { ...(auth && { authInfo: auth() }) });
  await server.connect(ours);
  const client = new Client(info);
  opened.push(client);
  await client.connect(theirs);
  return client;
}

function echoServer(): McpServer {
  const server = new McpServer(info);
  server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'echo' }] }));
  return server;
}

/** A client of a server whose calls nobody signed in. */
function limitedClient(options: ToolLimitsOptions, auth?: () => AuthInfo): Promise<Client> {
  const server = echoServer();
  opened.push(limitTools(server, options));
  server.server.onerror = () => {};
  return clientOf(server, auth);
}

const call = async (client: Client, name = 'echo') => (await client.callTool({ name })) as CallToolResult;

async function denials(client: Client, calls: number, tool?: string): Promise<boolean[]> {
  const all = [];
  for (let i = 0; i < calls; i += 1) all.push((await call(client, tool)).isError === true);
  return all;
}

describe('a server', () => {
  test('is limited before and after its tools are registered', async () => {
    const after = echoServer();
    const before = new McpServer(info);
    const declared = new McpServer(info, { capabilities: { tools: {} } });
    for (const server of [after, before, declared]) opened.push(limitTools(server, TWO));
    for (const server of [before, declared])
      server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'echo' }] }));
    for (const server of [after, before, declared])
      expect(await denials(await clientOf(server), 3)).toEqual([false, false, true]);
  });

  test('may be a low-level Server, whose later handler replaces the first one', async () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    opened.push(limitTools(server, TWO));
    const answer = (text: string) => () => ({ content: [{ type: 'text' as const, text }] });
    server.setRequestHandler(CallToolRequestSchema, answer('first'));
    server.setRequestHandler(CallToolRequestSchema, answer('second'));
    const client = await clientOf(server);
    expect(await call(client)).toEqual({ content: [{ type: 'text', text: 'second' }] });
    expect(await denials(client, 2)).toEqual([false, true]);
  });

  test('may answer calls by its handler for all other requests, as gateways do', async () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    opened.push(limitTools(server, TWO));
    server.fallbackRequestHandler = async ({ method }) => ({ content: [{ type: 'text', text: method }] });
    const client = await clientOf(server);
    expect(await call(client)).toEqual({ content: [{ type: 'text', text: 'tools/call' }] });
    expect(await denials(client, 2)).toEqual([false, true]);
  });

  test('lists its tools and answers pings without a limit', async () => {
    const client = await limitedClient({ perCredential: fixedWindow({ limit: 0, window: '1h' }) });
    expect((await client.listTools()).tools).toHaveLength(1);
    await client.ping();
    expect((await call(client)).content).toEqual([
      { type: 'text', text: 'Calls of this tool are not allowed at present. Do not repeat the call.' },
    ]);
  });

  test('with limits on single tools only lets all other tools pass', async () => {
    const client = await limitedClient({ perTool: { other: fixedWindow({ limit: 0, window: '1h' }) } });
    expect(await denials(client, 3)).toEqual([false, false, false]);
    expect(await denials(client, 1, 'other')).toEqual([true]);
  });

  test('takes limits once', () => {
    const server = echoServer();
    const limits = toolLimits(TWO);
    opened.push(limits);
    limitTools(server, limits);
    expect(() => limitTools(server.server, limits)).toThrow(/^limitTools: this server has limits already/);
  });

  test.each([[undefined], [{}], [{ server: {} }]])('must be of the SDK: %p', (server) => {
    expect(() => limitTools(server as never, TWO)).toThrow(
      /^limitTools: pass an McpServer or a Server of @modelcontextprotocol\/sdk 1\.x/,
    );
  });
});

describe('a thousand names of tools', () => {
  test('share the limit of the credential, also names that every object has', async () => {
    const store = memoryStore({ maxKeys: 10_000 });
    opened.push(store);
    const client = await limitedClient({
      ...{ name: 'names', store },
      perCredential: fixedWindow({ limit: 503, window: '1h' }),
      perTool: { echo: fixedWindow({ limit: 1, window: '1h' }) },
    });
    const names = ['__proto__', 'constructor', 'toString', ...Array.from({ length: 997 }, (_, i) => `t${i}`)];
    const texts = [];
    for (const name of names) texts.push((await call(client, name)).content[0]);
    const denied = texts.filter(
      (one) => one?.type === 'text' && one.text.startsWith('Too many calls of tools.'),
    );
    expect(denied).toHaveLength(497);
  });
});

test('sessions opened without end leave one key for each credential, and no server', async () => {
  const store = memoryStore();
  const limits = toolLimits({ ...TWO, name: 'sessions', store, concurrency: 1 });
  opened.push(store, limits);
  const servers: WeakRef<McpServer>[] = [];
  const session = async (caller: string) => {
    const server = echoServer();
    servers.push(new WeakRef(server));
    limitTools(server, limits);
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const send = theirs.send.bind(theirs);
    const authInfo = { token: 't', clientId: 'app', scopes: [], extra: { sub: caller } };
    theirs.send = (message) => send(message, { authInfo });
    await server.connect(ours);
    const client = new Client(info);
    await client.connect(theirs);
    await call(client);
    await client.close();
  };
  for (const caller of ['ann', 'bob']) await session(caller);
  const { size } = store;
  for (let i = 0; i < 200; i += 1) await session(i % 2 ? 'ann' : 'bob');
  expect(store.size).toBe(size);
  await eventually(async () => {
    heapUsed(); // collects
    return servers.filter((server) => server.deref() !== undefined).length < 20;
  });
});

describe('a call counts', () => {
  const token = (given: Partial<AuthInfo>) => (): AuthInfo => ({
    token: 't',
    clientId: 'app',
    scopes: [],
    ...given,
  });

  test.each<[string, (caller: string) => Partial<AuthInfo>]>([
    ['for the subject of its token', (sub) => ({ extra: { sub } })],
    ['for the client of its token, if it has no subject', (clientId) => ({ clientId })],
  ])('%s', async (_, of) => {
    const limits = toolLimits(TWO);
    opened.push(limits);
    const clients = [];
    for (const caller of ['ann', 'ann', 'bob']) {
      const server = echoServer();
      limitTools(server, limits);
      clients.push(await clientOf(server, token(of(caller))));
    }
    const [first, second, other] = clients;
    expect(await denials(first!, 2)).toEqual([false, false]);
    expect(await denials(second!, 1)).toEqual([true]);
    expect(await denials(other!, 1)).toEqual([false]);
  });

  test('apart for a subject and a client of the same text', async () => {
    const given = [{ clientId: 'ann' }, { extra: { sub: 'ann' } }];
    let at = 0;
    const client = await limitedClient({ perCredential: fixedWindow({ limit: 1, window: '1h' }) }, () =>
      token(given[at]!)(),
    );
    const first = await denials(client, 1);
    at = 1;
    expect([first, await denials(client, 2)]).toEqual([[false], [false, true]]);
  });

  test('for what the option credential returns', async () => {
    const credential = jest.fn(({ authInfo }) => authInfo.extra.team as string);
    const client = await limitedClient({ ...TWO, credential }, token({ extra: { sub: 'ann', team: 'red' } }));
    expect(await denials(client, 3)).toEqual([false, false, true]);
    expect(credential).toHaveBeenCalledTimes(3);
  });

  test.each([{ sub: '' }, { sub: { admin: true } }, { sub: ['ann'] }, { sub: null }])(
    'for no key if the subject is %p: it fails',
    async (extra) => {
      const client = await limitedClient(TWO, token({ extra }));
      expect(await rejection(call(client))).toMatchObject({ code: -32603 });
    },
  );
});

describe('over HTTP', () => {
  /** A transport with a session, as HTTP has. */
  async function sessionOf(server: McpServer): Promise<{ client: Client; errors: Error[] }> {
    const errors: Error[] = [];
    server.server.onerror = (error) => errors.push(error);
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    ours.sessionId = 'a-session';
    await server.connect(ours);
    const client = new Client(info);
    opened.push(client);
    await client.connect(theirs);
    return { client, errors };
  }

  test('a call without authInfo fails, and the error names the remedy', async () => {
    const limits = toolLimits(TWO);
    opened.push(limits);
    const server = echoServer();
    limitTools(server, limits);
    const { client, errors } = await sessionOf(server);
    expect(await rejection(call(client))).toMatchObject({ code: -32603 });
    expect(errors).toMatchObject([
      {
        code: 'SLUICE_KEY_RESOLUTION',
        message: expect.stringMatching(
          /let requireBearerAuth check tokens, or pass toolLimits\(\{ credential \}\)$/,
        ),
      },
    ]);
  });

  test('limits of one server are refused: each session would have counts of its own', async () => {
    const server = echoServer();
    opened.push(limitTools(server, TWO));
    const { client } = await sessionOf(server);
    expect(await rejection(call(client))).toMatchObject({
      message: expect.stringMatching(
        /Create the limits once with toolLimits\(\{ … \}\), and pass them to limitTools/,
      ),
    });
  });
});

describe('a failure', () => {
  test('that no limit caused is reported, and its text is not sent', async () => {
    const reported = jest.spyOn(console, 'error').mockImplementation(() => {});
    const server = echoServer();
    const limits = limitTools(server, TWO);
    const client = await clientOf(server);
    await limits.close();
    expect(await rejection(call(client))).toMatchObject({
      message: expect.stringMatching(/The limits of this server failed$/),
    });
    expect(reported.mock.calls).toMatchObject([[{ code: 'SLUICE_LIMITER_CLOSED' }]]);
    reported.mockRestore();
  });

  test('of the store denies with a text that blames nobody, under the failure policy deny', async () => {
    const far = farStore({ health: new StoreHealth(() => undefined) });
    opened.push(far.store);
    const client = await limitedClient({ ...TWO, name: 'far', store: far.store, failurePolicy: 'deny' });
    far.fail();
    expect(await call(client)).toMatchObject({
      content: [
        {
          type: 'text',
          text: expect.stringMatching(/^Tools cannot be called at present\. Call again in \d+ s\.$/),
        },
      ],
      isError: true,
    });
    far.mend();
  });

  test('of a store that does not answer denies at the deadline of the options', async () => {
    const far = farStore({ health: new StoreHealth(() => undefined) });
    opened.push(far.store);
    far.hold();
    const client = await limitedClient({
      ...{ ...TWO, name: 'far', store: far.store, failurePolicy: 'deny', deadline: '500ms' },
    });
    const before = performance.now();
    expect(await denials(client, 1)).toEqual([true]);
    expect(performance.now() - before).toBeGreaterThan(450); // the usual deadline is 100 ms
  });

  test('of a release is reported, and the call keeps its answer', async () => {
    const far = farStore();
    opened.push(far.store);
    const server = echoServer();
    opened.push(limitTools(server, { concurrency: 1, name: 'far', store: far.store }));
    const errors: Error[] = [];
    server.server.onerror = (error) => errors.push(error);
    const client = await clientOf(server);
    far.refuse('refund');
    expect(await denials(client, 1)).toEqual([false]);
    await eventually(async () => errors.length === 1);
    expect(errors).toMatchObject([{ code: 'SLUICE_STORE_UNAVAILABLE' }]);
    far.mend();
  });
});

describe('a call that is aborted while it is decided', () => {
  test('runs no tool, counts, and holds no permit', async () => {
    const far = farStore();
    opened.push(far.store);
    const server = new McpServer(info);
    let runs = 0;
    server.registerTool('echo', {}, () => {
      runs += 1;
      return { content: [] };
    });
    opened.push(
      limitTools(server, { ...TWO, concurrency: 1, name: 'far', store: far.store, deadline: '10s' }),
    );
    const client = await clientOf(server);
    const open = far.hold();
    const abort = new AbortController();
    const aborted = rejection(client.callTool({ name: 'echo' }, undefined, { signal: abort.signal }));
    await eventually(async () => far.calls.length === 1);
    abort.abort();
    await aborted;
    open();
    await eventually(async () => far.operations.includes('refund'));
    expect(runs).toBe(0);
    expect(await denials(client, 2)).toEqual([false, true]);
    expect(runs).toBe(1);
  });
});

describe('a task', () => {
  test('that is denied is a JSON-RPC error, because its client reads no result of a tool', async () => {
    const clock = new ManualClock();
    const store = memoryStore({ clock });
    opened.push(store);
    const server = new Server(info, {
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
    });
    opened.push(
      limitTools(server, { name: 'tasks', store, perCredential: fixedWindow({ limit: 1, window: '7s' }) }),
    );
    const task = { taskId: '1', status: 'working', createdAt: '', lastUpdatedAt: '', ttl: 1000 };
    server.setRequestHandler(CallToolRequestSchema, (() => ({ task })) as never);
    const client = await clientOf(server);
    const create = () =>
      client.request({ method: 'tools/call', params: { name: 'echo', task: {} } }, {
        parse: (x: unknown) => x,
        safeParse: (data: unknown) => ({ success: true, data }),
      } as never);
    expect(await create()).toMatchObject({ task: { taskId: '1' } });
    expect(await rejection(create())).toMatchObject({ code: -32004, data: { retryAfter: 7 } });
  });
});

describe('toolLimits', () => {
  test.each<[unknown, RegExp]>([
    [{}, /^toolLimits: pass perCredential, perTool or concurrency: no call would be limited$/],
    [{ perTool: {} }, /no call would be limited$/],
    [{ perTool: [] }, /^toolLimits: perTool must be an object of policies by the names of tools/],
    [
      { perTool: { 'a b': fixedWindow({ limit: 1, window: 1 }) } },
      /the name of a tool must be 1 to 128 letters/,
    ],
    [
      { perTool: { ['a'.repeat(129)]: fixedWindow({ limit: 1, window: 1 }) } },
      /the name of a tool must be 1 to 128 letters/,
    ],
    [{ perTol: {} }, /^toolLimits has no option 'perTol'; did you mean 'perTool'\?$/],
    [{ perCredential: { limit: 5 } }, /^policy must be made by one of fixedWindow\(/],
    [{ ...TWO, concurrency: 1.5 }, /limit must be a whole number from 0 to 10000, not 1\.5$/],
    [
      { ...TWO, concurrency: TWO.perCredential },
      /^toolLimits: concurrency must be a number or concurrency\(/,
    ],
    [{ ...TWO, cost: { echo: -1 } }, /^toolLimits: cost\.echo must be a whole number/],
    [
      { ...TWO, cost: 5 },
      /^toolLimits: cost must be an object of numbers by the names of tools, or a function/,
    ],
    [{ ...TWO, credential: 'ann' }, /^toolLimits: credential must be a function, not "ann"$/],
    [{ ...TWO, denied: 'throw' }, /^toolLimits: denied must be 'result' or 'error', not "throw"$/],
    [{ ...TWO, name: 'a b' }, /^toolLimits: name must be/],
  ])('refuses %p', (options, message) => {
    expect(() => toolLimits(options as ToolLimitsOptions)).toThrow(message);
  });

  test.each([['mcp'], ['n'.repeat(100)]])(
    'limits tools with names of up to 128 letters, named %s',
    async (name) => {
      const store = memoryStore();
      opened.push(store);
      const one = fixedWindow({ limit: 1, window: '1h' });
      const tools = ['a'.repeat(91), 'a'.repeat(92), 'a'.repeat(128), `${'a'.repeat(127)}b`];
      const client = await limitedClient({
        ...{ name, store, perCredential: fixedWindow({ limit: 99, window: '1h' }), concurrency: 5 },
        perTool: Object.fromEntries(tools.map((tool) => [tool, one])),
      });
      for (const tool of tools) {
        const texts = [];
        for (let i = 0; i < 2; i += 1) texts.push((await call(client, tool)).content[0]);
        expect(texts).toMatchObject([
          { text: expect.stringMatching(/not found$/) },
          { text: expect.stringContaining(`Too many calls of the tool "${tool}".`) },
        ]);
      }
    },
  );

  test('names the limiter of a tool with a short name after the tool', async () => {
    const store = memoryStore();
    opened.push(store);
    const policy = fixedWindow({ limit: 1, window: '1h' });
    const client = await limitedClient({ store, perTool: { ['a'.repeat(91)]: policy } });
    await denials(client, 1, 'a'.repeat(91));
    const limiter = new RateLimiter({ name: `mcp:tool:${'a'.repeat(91)}`, policy, store });
    opened.push(limiter);
    expect((await limiter.peek('local')).remaining).toBe(0);
  });

  test('needs a hashTag where a store has slots, as in a Redis Cluster', async () => {
    const { store } = farStore({ slotted: true });
    opened.push(store);
    const options = { ...TWO, concurrency: 1, name: 'slots', store };
    expect(() => toolLimits(options)).toThrow(/give all its limiters the same hashTag/);
    const client = await limitedClient({ ...options, hashTag: 'mcp' });
    expect(await denials(client, 3)).toEqual([false, false, true]);
  });

  test.each<[string, ToolLimitsOptions]>([
    ['perTool', { perTool: { slow: concurrency({ limit: 1, lease: '1h' }) } }],
    [
      'perCredential',
      { perCredential: { rate: fixedWindow({ limit: 9, window: '1h' }), atOnce: concurrency({ limit: 1 }) } },
    ],
  ])('releases a permit of a concurrency policy in %s when the tool ends', async (where, options) => {
    const server = new McpServer(info);
    const ends: (() => void)[] = [];
    server.registerTool('slow', {}, async () => {
      await new Promise<void>((end) => ends.push(end));
      return { content: [] };
    });
    opened.push(limitTools(server, options));
    const client = await clientOf(server);
    for (const round of [1, 2]) {
      const running = call(client, 'slow');
      await eventually(async () => ends.length === round);
      const tool = where === 'perTool' ? ' of the tool "slow"' : '';
      expect((await call(client, 'slow')).content).toEqual([
        {
          type: 'text',
          text: expect.stringContaining(`Too many calls${tool} at the same time: at most 1 may run.`),
        },
      ]);
      ends[round - 1]!();
      expect((await running).isError).toBeUndefined();
    }
  });

  test('takes a policy of concurrency with a lease of its own', async () => {
    const client = await limitedClient({ concurrency: concurrency({ limit: 0, lease: '5s' }) });
    expect(await denials(client, 1)).toEqual([true]);
  });
});
