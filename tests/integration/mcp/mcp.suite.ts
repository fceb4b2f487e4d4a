import { setImmediate } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { fixedWindow, ManualClock, type Store, tokenBucket } from '../../../packages/core/src/index.js';
import { limitTools, type ToolLimitsOptions, toolLimits } from '../../../packages/mcp/src/index.js';
import type { StoreKind } from '../../contracts/store/harness.js';
import { eventually } from '../../support/eventually.js';
import { uniqueName } from '../../support/redis-url.js';
import { rejection } from '../../support/rejection.js';
import { type HttpServer, serveMcp } from './http-server.js';

/** What limits on tools promise over Streamable HTTP, on a kind of store. */
export function mcpSuite(kind: StoreKind): void {
  describe(`tools over Streamable HTTP, counted on ${kind.name}`, () => {
    let clock: ManualClock;
    let store: Store;
    const opened: { close(): Promise<unknown> }[] = [];
    /** The calls that the tools ran, and what ends the ones that wait. */
    let ran: string[];
    let waiting: { readonly signal: AbortSignal; end(): void }[];
    let errors: Error[];
    beforeEach(() => {
      clock = new ManualClock();
      store = kind.open(clock);
      opened.push(store);
      [ran, waiting, errors] = [[], [], []];
    });
    afterEach(async () => {
      for (const { end } of waiting) end();
      for (const one of opened.splice(0).reverse()) await one.close();
    });

    async function serve(options: ToolLimitsOptions): Promise<HttpServer> {
      const limits = toolLimits({ name: uniqueName('mcp'), store, deadline: '10s', ...options });
      opened.push(limits);
      const http = await serveMcp(() => {
        const server = new McpServer({ name: 'test', version: '1.0.0' });
        server.server.onerror = (error) => errors.push(error);
        limitTools(server, limits);
        const done = (text: string): CallToolResult => {
          ran.push(text);
          return { content: [{ type: 'text', text }] };
        };
        server.registerTool('search', { inputSchema: { pages: z.number().optional() } }, () =>
          done('search'),
        );
        server.registerTool('read', {}, () => done('read'));
        server.registerTool('fail', {}, () => {
          done('fail');
          throw new Error('no such book');
        });
        server.registerTool('wait', {}, async ({ signal }) => {
          await new Promise<void>((end) => waiting.push({ signal, end }));
          return done('wait');
        });
        return server;
      });
      opened.push(http);
      return http;
    }

    const call = (client: Client, tool: string, given: Record<string, unknown> = {}, signal?: AbortSignal) =>
      client.callTool(
        { name: tool, arguments: given },
        undefined,
        signal && { signal },
      ) as Promise<CallToolResult>;
    const textOf = ({ content }: CallToolResult) =>
      content[0]?.type === 'text' ? content[0].text : undefined;

    test('sessions opened without end count together for the subject of their token', async () => {
      const http = await serve({ perCredential: fixedWindow({ limit: 5, window: '1h' }) });
      const results: CallToolResult[] = [];
      for (let i = 0; i < 20; i += 1) results.push(await call(await http.open('ann'), 'search'));
      expect(results.map(({ isError }) => isError ?? false)).toEqual(
        Array.from({ length: 20 }, (_, i) => i >= 5),
      );
      expect(ran).toHaveLength(5);
      expect((await call(await http.open('bob'), 'search')).isError).toBeUndefined();
    });

    test('a denied call tells the model when to come back, and passes then', async () => {
      const http = await serve({ perCredential: tokenBucket({ capacity: 1, refill: 1, every: '90s' }) });
      const client = await http.open('ann');
      await call(client, 'search');
      expect(await call(client, 'search')).toEqual({
        content: [{ type: 'text', text: 'Too many calls of tools. Call again in 1 min 30 s, not earlier.' }],
        isError: true,
        _meta: { 'sluice/retryAfter': 90 },
      });
      expect(ran).toEqual(['search']);
      await clock.advance('90s');
      expect(textOf(await call(client, 'search'))).toBe('search');
    });

    test("with denied: 'error' a denied call is the JSON-RPC error -32004 with the seconds to wait", async () => {
      const http = await serve({
        concurrency: 1,
        perTool: { read: fixedWindow({ limit: 1, window: '12s' }) },
        denied: 'error',
      });
      const client = await http.open('ann');
      await call(client, 'read');
      expect(await rejection(call(client, 'read'))).toMatchObject({
        code: -32004,
        message: expect.stringContaining(
          'Too many calls of the tool "read". Call it again in 12 s, not earlier.',
        ),
        data: { retryAfter: 12 },
      });
    });

    test('a denied tool takes nothing from the limit of all tools', async () => {
      const http = await serve({
        perCredential: fixedWindow({ limit: 3, window: '1h' }),
        perTool: { read: { burst: fixedWindow({ limit: 1, window: '1m' }) } },
      });
      const client = await http.open('ann');
      const texts = [];
      for (const tool of ['read', 'read', 'read', 'search', 'search', 'search'])
        texts.push(textOf(await call(client, tool)));
      expect(texts).toEqual([
        'read',
        ...Array(2).fill('Too many calls of the tool "read". Call it again in 1 min, not earlier.'),
        ...Array(2).fill('search'),
        'Too many calls of tools. Call again in 1 h, not earlier.',
      ]);
    });

    test('a call takes the cost of its tool, and one that can never pass says so', async () => {
      const http = await serve({
        perCredential: fixedWindow({ limit: 10, window: '1h' }),
        cost: { read: 6, search: 11 },
      });
      const client = await http.open('ann');
      expect(textOf(await call(client, 'read'))).toBe('read');
      expect((await call(client, 'read')).isError).toBe(true);
      expect(await call(client, 'search')).toEqual({
        content: [
          {
            type: 'text',
            text: 'This call is too large: it takes 11, and at most 10 are allowed. Do not repeat it as it is.',
          },
        ],
        isError: true,
      });
    });

    test.each([
      ['a negative cost', { pages: -5 }],
      ['a cost that is no number', { pages: 'many' }],
      ['an infinite cost', { pages: 1e308 }],
      ['an object in place of a number', { pages: { valueOf: 1 } }],
      ['a list', { pages: [1, 2] }],
    ])('hostile arguments with %s run no tool and take nothing', async (_, given) => {
      const http = await serve({
        perCredential: fixedWindow({ limit: 1, window: '1h' }),
        cost: ({ arguments: { pages = 0.1 } }) => (pages as number) * 10,
      });
      const client = await http.open('ann');
      expect(await rejection(call(client, 'search', given as Record<string, unknown>))).toMatchObject({
        code: -32603,
        message: expect.stringMatching(/The limits of this server failed$/),
      });
      expect([ran, errors.length]).toEqual([[], 1]);
      expect(textOf(await call(client, 'search'))).toBe('search');
    });

    describe('at most two calls at the same time', () => {
      let http: HttpServer;
      let client: Client;
      beforeEach(async () => {
        http = await serve({ concurrency: 2, cost: { wait: 5 } }); // a cost is no number of places
        client = await http.open('ann');
      });
      const waits = (count: number) => eventually(async () => waiting.length === count);

      test('a third call is denied in every session, until one has ended', async () => {
        const calls = [call(client, 'wait'), call(client, 'wait')];
        await waits(2);
        const denied = await call(await http.open('ann'), 'read');
        expect(textOf(denied)).toMatch(
          /^Too many calls at the same time: at most 2 may run\. Wait until one of them has ended, about \d+ s\.$/,
        );
        expect(textOf(await call(await http.open('bob'), 'read'))).toBe('read');
        waiting[0]!.end();
        await Promise.race(calls);
        expect(textOf(await call(client, 'read'))).toBe('read');
      });

      test('a tool that throws frees its permit', async () => {
        const texts = [];
        for (let i = 0; i < 5; i += 1) texts.push(textOf(await call(client, 'fail')));
        expect(texts).toEqual(Array(5).fill('no such book'));
      });

      test('an aborted call keeps its permit while its tool runs, and frees it at its end', async () => {
        const aborts = [new AbortController(), new AbortController()];
        const calls = aborts.map(({ signal }) => rejection(call(client, 'wait', {}, signal)));
        await waits(2);
        for (const abort of aborts) abort.abort();
        await Promise.all(calls);
        await eventually(async () => waiting.every(({ signal }) => signal.aborted));
        expect((await call(client, 'read')).isError).toBe(true);
        for (const { end } of waiting) end();
        await setImmediate();
        await eventually(async () => (await call(client, 'read')).isError === undefined);
        expect(errors).toEqual([]);
      });

      test('calls of a session that ended free their permits when their tools end', async () => {
        const calls = [1, 2].map(() => rejection(call(client, 'wait')));
        await waits(2);
        await client.close();
        await Promise.all(calls);
        for (const { end } of waiting) end();
        const next = await http.open('ann');
        await eventually(async () => (await call(next, 'read')).isError === undefined);
      });
    });
  });
}
