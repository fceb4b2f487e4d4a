import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import * as core from '@sluice/core';
import * as decorators from '@sluice/decorators';
import * as fleet from '@sluice/fleet';
import * as otel from '@sluice/otel';
import * as postgres from '@sluice/postgres';
import * as sqlite from '@sluice/sqlite';
import * as upstash from '@sluice/upstash';
import { Redis } from 'ioredis';
import { FakeProvider } from '../../../examples/chat/src/fake-provider.js';
import { tokensOf } from '../../../examples/chat/src/tokens.js';
import { isTranslation } from '../../../scripts/chinese/pages.js';
import { type PostgresServer, startPostgres } from '../../support/postgres/index.js';
import { redisUrl } from '../../support/redis-url.js';
import { UPSTASH_TOKEN, UpstashDouble } from '../../support/upstash.js';
import { type Block, blocksOf, expectedLogs, runBlock } from './markdown.js';

const root = resolve(__dirname, '../../..');
const documents = markdownFiles();
/** A translation has the code of the English page, except for comments: `chinese.test.ts` compares them. */
const run = documents.filter((file) => !isTranslation(file));
const blocks = run.flatMap((file) =>
  blocksOf(join(root, file)).map((block, at) => [`${file}, block ${at + 1}`, block] as const),
);
const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
const replace: Record<string, string> = {
  'redis://127.0.0.1:6379': redisUrl(),
  shop: `docs-${process.pid}`,
  'limits.db': join(folder, 'limits.db'),
};
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
  replace['postgres://app:secret@127.0.0.1:5432/app'] = server.url;
}, 120_000);
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

let double: UpstashDouble;
beforeAll(async () => {
  double = await UpstashDouble.start(redisUrl());
  Object.assign(process.env, { UPSTASH_REDIS_REST_URL: double.url, UPSTASH_REDIS_REST_TOKEN: UPSTASH_TOKEN });
});
afterAll(() => double.stop());

/** The clients of OpenAI and Anthropic read these variables. */
let provider: FakeProvider;
beforeAll(async () => {
  provider = await FakeProvider.start();
  Object.assign(process.env, {
    ...{ OPENAI_BASE_URL: `${provider.url}/v1`, OPENAI_API_KEY: 'none' },
    ...{ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'none' },
  });
});
afterAll(() => provider.stop());

/** Resources that blocks leave open, as programs do that do not end. */
const stores: core.Store[] = [];
const clients: Redis[] = [];
const subscriptions: (() => void)[] = [];
/** Opens stores with a deadline of 10 s, because a busy machine connects slowly. They are closed after the block. */
const withLongDeadline =
  <Args extends unknown[], S extends core.Store>(open: (...args: Args) => S) =>
  (...args: Args): S => {
    const store = Object.defineProperty(open(...args), 'usualDeadline', { value: 10_000 });
    stores.push(store);
    return store;
  };
const packages: Record<string, object> = {
  /** Of this provider a token is a word. */
  'gpt-tokenizer': { countTokens: tokensOf },
  /** The price of the model of the examples. */
  tokenlens: {
    getTokenCosts: ({ modelId, usage }: { modelId: string; usage: Record<string, number> }) => {
      if (modelId !== 'openai/gpt-5-mini') return {};
      const { input_tokens = 0, output_tokens = 0, cacheReads = 0 } = usage;
      return { totalUSD: (0.25 * input_tokens + 2 * output_tokens + 0.025 * cacheReads) / 1e6 };
    },
  },
  'tokenlens/models': { getModels: () => ({}) },
  ioredis: {
    Redis: class extends Redis {
      constructor(url: string) {
        super(url);
        clients.push(this);
      }
    },
  },
  '@sluice/fleet': {
    ...fleet,
    logDenials: (...options: Parameters<typeof fleet.logDenials>) => {
      const stop = fleet.logDenials(...options);
      subscriptions.push(stop);
      return stop;
    },
  },
  '@sluice/core': {
    ...core,
    redisStore: withLongDeadline(core.redisStore),
  },
  '@sluice/postgres': {
    ...postgres,
    postgresStore: withLongDeadline(postgres.postgresStore),
  },
  '@sluice/sqlite': {
    ...sqlite,
    sqliteStore: withLongDeadline(sqlite.sqliteStore),
  },
  '@sluice/otel': {
    ...otel,
    instrument: (options?: otel.InstrumentOptions) => {
      const telemetry = otel.instrument(options);
      subscriptions.push(() => telemetry.close());
      return telemetry;
    },
  },
  '@sluice/upstash': {
    upstashStore: withLongDeadline(upstash.upstashStore),
  },
};
const load = ((name: string) => packages[name] ?? require(name)) as NodeJS.Require;

/** The servers that a block started, on free ports instead of the ports in the text. */
const started: Server[] = [];
const listen = Server.prototype.listen;
const listeners = process.listeners('SIGTERM');

beforeEach(() => {
  decorators.configureSluice();
  Server.prototype.listen = function (this: Server, ...args: unknown[]) {
    started.push(this);
    const [first, ...rest] = args;
    const free = typeof first === 'object' ? { ...first, port: 0 } : 0;
    return Reflect.apply(listen, this, [free, ...rest]);
  } as typeof listen;
});

afterEach(async () => {
  Server.prototype.listen = listen;
  for (const listener of process.listeners('SIGTERM')) {
    if (!listeners.includes(listener)) process.off('SIGTERM', listener);
  }
  for (const server of started.splice(0)) {
    (server as Server & { closeAllConnections?(): void }).closeAllConnections?.();
    await new Promise((done) => server.close(done));
  }
  for (const stop of subscriptions.splice(0)) stop();
  await decorators.closeSluice();
  const counts = stores.length + clients.length > 0;
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(clients.splice(0).map((client) => client.quit()));
  if (counts) await forgetCounts();
});

test.each(blocks)('%s runs and logs the values of its comments', async (_, block) => {
  expect(await runBlock(block, load, replace)).toEqual(expectedLogs(block));
});

const serving = blocks.filter(([, { source }]) => source.includes('.listen('));
const hasLivePage = ({ source }: Block) => source.includes('@sluice/dashboard');

async function addressOf(server: Server): Promise<string> {
  if (!server.listening) await new Promise((done) => server.once('listening', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each(serving.filter(([, block]) => hasLivePage(block)))('%s serves the live page', async (_, block) => {
  await runBlock(block, load, replace);
  const response = await fetch(`${await addressOf(started[0]!)}/limits/`);
  const isOpen = block.source.includes('authorize: () => true');
  expect([response.status, (await response.text()).includes('<title>Sluice')]).toEqual(
    isOpen ? [200, true] : [401, false],
  );
});

test.each(serving.filter(([, block]) => !hasLivePage(block)))(
  '%s serves and limits',
  async (_, block: Block) => {
    await runBlock(block, load, replace);
    const url = await addressOf(started[0]!);
    const login = block.source.includes('/login');
    const ask = () =>
      login
        ? fetch(`${url}/login`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: '{"email":"ann@example.com"}',
          })
        : fetch(url);
    const limit = login ? 5 : 20;
    const first = await ask();
    expect(await first.text()).toBe(`${limit - 1} left`);
    for (let i = 1; i < limit; i++) expect((await ask()).status).toBe(200);
    if (login) {
      const denied = await ask();
      expect(denied.status).toBe(429);
      expect(denied.headers.get('Retry-After')).toMatch(/^(?:60|5\d)$/);
    }
  },
);

test('links lead to files', () => {
  const broken = documents.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => resolve(root, dirname(file), target!))
      .filter((target) => !existsSync(target))
      .map((target) => `${file} → ${relative(root, target)}`),
  );
  expect(broken).toEqual([]);
});

test('READMEs of packages have absolute links, which lead to files of this repository', () => {
  const home = 'https://github.com/sluice-limits/sluice/blob/main/';
  const broken = documents
    .filter((file) => /^packages\/[^/]+\/README\.md$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/\]\(([^)#]+)[^)]*\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !target.startsWith(home) || !existsSync(join(root, target.slice(home.length))))
        .filter((target) => !/^https:\/\/(?!github\.com\/sluice-limits)/.test(target))
        .map((target) => `${file} → ${target}`),
    );
  expect(broken).toEqual([]);
});

function markdownFiles(): string[] {
  const folders = ['packages', 'examples', 'bench', 'docs'].filter((folder) =>
    existsSync(join(root, folder)),
  );
  const inside = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return [...readdirSync(root), ...inside].filter((file) =>
    /^(?!.*(?:node_modules|dist)\/).*\.md$/.test(file),
  );
}

/** Blocks that count in Redis start from zero each time. Reads all keys of the shared Redis, so not after a block without Redis. */
async function forgetCounts(): Promise<void> {
  const client = new Redis(redisUrl());
  const keys = await client.keys('sluice:v2:*:{merchant-7}');
  keys.push(
    ...(await client.keys('sluice:v2:*SmsService*')),
    ...(await client.keys('sluice:v2:*:{127.0.0.1}')),
  );
  if (keys.length > 0) await client.del(keys);
  client.disconnect();
}
