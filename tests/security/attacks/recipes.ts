import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ManualClock, memoryStore } from '@sluice/core';
import * as express from '@sluice/express';
import { blocksOf, evaluateBlock } from '../../integration/docs/markdown.js';
import type { Sent, Target } from './target.js';

/** Recipes whose code serves no requests, with the reason. */
export const RECIPES_WITHOUT_REQUESTS = [
  'docs/recipes/bullmq.md', // jobs
  'docs/recipes/bundlers.md', // builds
  'docs/recipes/calling-apis.md', // outgoing calls
  'docs/recipes/cluster-and-sentinel.md', // one option
  'docs/recipes/change-at-run-time.md', // limiters in code
  'docs/recipes/kafka.md', // messages of a queue
  'docs/recipes/lambda-and-vercel.md', // the platform passes the address
  'docs/recipes/pnpm-and-yarn.md', // installs
  'docs/recipes/queues-and-outgoing-calls.md', // outgoing calls
  'docs/recipes/quotas.md', // limiters in code
  'docs/recipes/several-services.md', // limiters in code
  'docs/recipes/serverless-and-edge.md', // the runtime passes the address
  'docs/recipes/testing-your-limits.md', // tests
  'docs/recipes/try-without-enforcing.md', // denies no request
  'docs/recipes/unblock-a-customer.md', // limiters in code
  'docs/recipes/who-is-limited.md', // limiters in code
];

/** Recipes whose programs need a process or packages of their own: the test that forges addresses or floods them. */
export const RECIPES_ATTACKED_BY: Readonly<Record<string, string>> = {
  'docs/recipes/expensive-routes.md': 'tests/integration/recipes/express.deep.test.ts',
  'docs/recipes/graphql.md': 'tests/integration/recipes/graphql.deep.test.ts',
  'docs/recipes/grpc.md': 'tests/integration/recipes/grpc.deep.test.ts',
  'docs/recipes/nextjs.md': 'tests/integration/edge/edge.deep.test.ts',
  'docs/recipes/proxies-by-name.md': 'tests/integration/recipes/proxies.deep.test.ts',
  'docs/recipes/socket-io.md': 'tests/integration/recipes/socket-io.deep.test.ts',
  'docs/recipes/streams.md': 'tests/integration/recipes/express.deep.test.ts',
  'docs/recipes/trpc.md': 'tests/integration/recipes/trpc.deep.test.ts',
  'docs/recipes/websocket.md': 'tests/integration/recipes/websocket.deep.test.ts',
};

type App = ReturnType<typeof import('express')> &
  ((request: IncomingMessage, response: ServerResponse) => void);

/** The app of the block of a page that contains `text`. The clock of its stores does not move. */
async function appOf(page: string, text: string, behindProxy: boolean): Promise<App> {
  const blocks = blocksOf(join(__dirname, '../../..', page)).filter(({ source }) => source.includes(text));
  if (blocks.length !== 1) throw new Error(`${page} has ${blocks.length} blocks with ${text}`);
  const still = {
    ...express,
    __esModule: true,
    rateLimit: (options: express.RateLimitOptions) =>
      express.rateLimit({ name: 'attacked', ...options, store: memoryStore({ clock: new ManualClock() }) }),
  };
  const load = ((name: string) => (name === '@sluice/express' ? still : require(name))) as NodeJS.Require;
  const { values } = await evaluateBlock(blocks[0]!, load, {}, ['app']);
  const app = values.app as App;
  if (behindProxy) app.set('trust proxy', 'loopback');
  return app;
}

interface Recipe extends Omit<Target, 'name' | 'open'> {
  readonly page: string;
  /** A text that only the app's block contains. */
  readonly block: string;
}

const recipe = ({ page, block, ...target }: Recipe): Target => ({
  ...target,
  name: `${page}: ${block}`,
  open: () => appOf(page, block, target.behindProxy ?? false),
});

const login: Sent = { method: 'POST', path: '/login', body: { account: 'ann', password: 'wrong' } };
const ANN = ['ann', 'Ann', 'ANN', ' ann', 'ann ', 'ａｎｎ', '\tann\n'];
const sms: Sent = { method: 'POST', path: '/sms', body: { phone: '+49 151 23456789' } };
const PHONE = [
  '+49 151 23456789',
  '+4915123456789',
  '+49 (151) 234-567-89',
  '+49.151.2345.6789',
  ' +4915123456789 ',
  '+49\u00a0151\u200923456789',
];

export const RECIPE_TARGETS: readonly Target[] = [
  {
    page: 'docs/recipes/plans-and-tiers.md',
    block: "app.use('/api'",
    honest: { method: 'GET', path: '/api', headers: { 'X-Api-Key': 'key-of-ann' } } as const,
    most: 10,
    behindProxy: true,
  },
  {
    page: 'docs/recipes/login-throttling.md',
    block: 'a correct password costs nothing',
    honest: login,
    reached: [200, 401],
    most: 20,
    field: 'account',
    spellings: ANN,
    mostForOne: 5,
    behindProxy: true,
  },
  {
    page: 'docs/recipes/login-throttling.md',
    block: 'DEVICE_SECRET',
    honest: login,
    reached: [200, 401],
    most: 20,
    field: 'account',
    spellings: ANN,
    mostForOne: 5,
    behindProxy: true,
  },
  {
    page: 'docs/recipes/sms-codes.md',
    block: "app.post('/sms'",
    honest: sms,
    most: 20,
    field: 'phone',
    spellings: PHONE,
    mostForOne: 1,
    behindProxy: true,
  },
  {
    page: 'docs/recipes/behind-proxies.md',
    block: 'trust proxy',
    honest: { method: 'GET', path: '/' } as const,
    most: 100,
    behindProxy: true,
  },
  {
    page: 'docs/recipes/behind-proxies.md',
    block: 'cdn.addSubnet',
    honest: { method: 'GET', path: '/' } as const,
    most: 100,
  },
  {
    page: 'docs/recipes/user-and-address.md',
    block: 'perUser: { policy: tokenBucket',
    honest: { method: 'GET', path: '/api' } as const,
    most: 20,
    behindProxy: true,
  },
  {
    page: 'docs/recipes/metrics.md',
    block: 'PrometheusExporter',
    honest: { method: 'GET', path: '/' } as const,
    reached: [404],
    most: 100,
    behindProxy: true,
  },
].map(recipe);
