import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import supertest from 'supertest';
import { ManualClock, memoryStore, RateLimiter, slidingLog } from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { run } from '../../support/run.js';
import { blockTagged } from '../docs/markdown.js';
import { compile, NestApp } from '../nestjs/nest-app.js';

const root = join(__dirname, '../../..');
const page = join(root, 'docs/migration/nestjs-throttler.md');
const folder = join(root, `node_modules/.cache/sluice-nestjs/page-${process.pid}`);
const serve = join(__dirname, '../nestjs/apps/serve.legacy.ts');

/** Handlers for blocks that only show a module: one, and one for each decorator in `skips`. */
const around = (module: string, skips: readonly string[] = []) => `
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { SkipLimit } from '@sluice/nestjs';
import { SkipThrottle, ThrottlerGuard } from '@nestjs/throttler';

@Controller()
class AppController {
  @Get()
  hello() {
    return 'hello';
  }
${skips.map((skip, at) => `${skip}\n@Get('${at}')\nhandler${at}() {\n return 'hello';\n}\n`).join('')}
}

@Module({
  imports: [${module}],
  controllers: [AppController],
  providers: [${module === 'throttler' ? '{ provide: APP_GUARD, useClass: ThrottlerGuard }' : ''}],
})
class AppModule {}
`;

const started: NestApp[] = [];
afterEach(() => Promise.all(started.splice(0).map((app) => app.kill())));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A code block, whose counts in Redis are those of this run. A busy machine may answer after the usual deadline. */
const text = (tag: string) =>
  blockTagged(page, tag).replace('store:', `keyPrefix: '${uniqueName('page')}', deadline: '10s', store:`);

/** Starts the application of a code block of the page. */
async function start(tag: string, more = '', replace: Readonly<Record<string, string>> = {}) {
  const source = join(folder, `${tag}.legacy.ts`);
  await mkdir(folder, { recursive: true });
  let block = text(tag);
  for (const [from, to] of Object.entries(replace)) block = block.replace(from, to);
  const program = `import { serve } from ${JSON.stringify(serve)};\n${block}\n${more}\nserve(AppModule);\n`;
  await writeFile(source, program);
  const compiled = await compile(source);
  const app = await NestApp.start(compiled.file, { REDIS_URL: redisUrl() }).finally(compiled.remove);
  started.push(app);
  return supertest(app.url);
}

async function series(
  client: ReturnType<typeof supertest>,
  ...requests: readonly (readonly [method: 'get' | 'head' | 'post', path: string])[]
) {
  const answers = [];
  for (const [method, path] of requests) answers.push(await client[method](path));
  return answers;
}

const times = <T>(count: number, value: T): T[] => Array(count).fill(value);

test('both sides give the same statuses and counts, except for the differences of the page', async () => {
  const programs = await Promise.all(['nest-before', 'nest-after'].map((tag) => start(tag)));
  const [before, after] = await Promise.all(
    programs.map((client) =>
      series(
        client,
        ...times(4, ['get', '/'] as const),
        ...times(2, ['post', '/login'] as const),
        ['get', '/health'],
        ['head', '/'],
      ),
    ),
  );
  const seen = (answers: typeof before) =>
    answers!.map(({ status, headers, text }) => [
      status,
      status === 429 || [text, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']],
      'retry-after' in headers,
    ]);
  expect(seen(after)).toEqual(seen(before));
  expect(after!.map(({ status }) => status)).toEqual([200, 200, 200, 429, 201, 429, 200, 429]);

  const denials = [before![3]!, after![3]!];
  expect(denials.map(({ headers }) => ['ratelimit' in headers, 'x-ratelimit-limit' in headers])).toEqual([
    [false, false],
    [true, true],
  ]);
  expect(denials.map(({ body }) => Object.keys(body).sort())).toEqual([
    ['message', 'statusCode'],
    ['detail', 'status', 'title', 'type', 'violated-policies'],
  ]);
  const resets = [before![0]!, after![0]!].map(({ headers }) => Number(headers['x-ratelimit-reset']) > 60);
  expect(resets).toEqual([false, true]);
});

test('several throttlers give the same statuses', async () => {
  const [before, after] = await Promise.all([
    start('nest-named-before', around('throttler')),
    start('nest-named-after', around('sluice')),
  ]);
  const requests = times(5, ['get', '/'] as ['get', string]);
  const statuses = (await series(before, ...requests)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect((await series(after, ...requests)).map(({ status }) => status)).toEqual(statuses);
});

test('the skips of named throttlers give the same statuses', async () => {
  const replace = {
    "name: 'short', ttl: 1000, limit: 20": "name: 'short', ttl: 60_000, limit: 2",
    "limit: 20, window: '1s'": "limit: 2, window: '1m'",
    "name: 'long', ": '',
    'long: {': 'default: {',
  };
  const before = [
    '@SkipThrottle()',
    '@SkipThrottle({ short: true })',
    '@SkipThrottle({ default: true, short: true })',
  ];
  const after = ["@SkipLimit('default')", "@SkipLimit('short')", "@SkipLimit('default', 'short')"];
  const programs = await Promise.all([
    start('nest-named-before', around('throttler', before), replace),
    start('nest-named-after', around('sluice', after), replace),
  ]);
  const requests = [0, 1, 2].flatMap((at) => times(4, ['get', `/${at}`] as const));
  for (const client of programs) {
    const statuses = (await series(client, ...requests)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 429, 429, 200, 200, 200, 429, ...times(4, 200)]);
  }
});

test('errorMessage and message give the same body', async () => {
  const errorMessage = "{ throttlers: [{ ttl: 60_000, limit: 3 }], errorMessage: 'slow down' }";
  const message = "message: { statusCode: 429, message: 'slow down' }, legacyHeaders: true";
  const programs = await Promise.all([
    start('nest-before', '', { '[{ ttl: 60_000, limit: 3 }]': errorMessage }),
    start('nest-after', '', { 'legacyHeaders: true': message }),
  ]);
  for (const client of programs) {
    const [, denied] = await series(client, ...times(2, ['post', '/login'] as const));
    expect([denied!.status, denied!.body]).toEqual([429, { statusCode: 429, message: 'slow down' }]);
  }
});

test('reports the same denials in front of the throttler with dryRun', async () => {
  const guard =
    "{ provide: APP_GUARD, useClass: RateLimitGuard({ policy: slidingLog({ limit: 3, window: '1m' }), dryRun: true, onLimited: () => console.log('denial ' + (denials += 1)) }) }";
  const imports =
    "import { slidingLog } from '@sluice/core';\nimport { RateLimitGuard } from '@sluice/nestjs';\nlet denials = 0;";
  const client = await start('nest-before', imports, { 'providers: [': `providers: [${guard}, ` });
  const answers = await series(client, ...times(5, ['get', '/'] as const));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
  expect(answers[0]!.headers).not.toHaveProperty('ratelimit');
  await started.at(-1)!.says('denial 2'); // its log may arrive after its answers
});

test('the throttler stays with one line changed, and two applications share its counts', async () => {
  const imports = `import { redisStore } from '@sluice/core';
import { throttlerStorage } from '@sluice/stores';`;
  const store = `throttlerStorage({ name: '${uniqueName('nest')}', store: redisStore(process.env.REDIS_URL!), deadline: '10s' })`;
  const kept = {
    '[{ ttl: 60_000, limit: 3 }]': `{ throttlers: [{ ttl: 60_000, limit: 3 }], storage: ${store} }`,
  };
  const one = await start('nest-before', imports, kept);
  const other = await start('nest-before', imports, kept);
  const statuses = async (client: typeof one, count: number) =>
    (await series(client, ...times(count, ['get', '/'] as const))).map(({ status }) => status);
  expect(await statuses(one, 2)).toEqual([200, 200]);
  expect(await statuses(other, 2)).toEqual([200, 429]);
  const [denied] = await series(one, ['get', '/']);
  expect(denied!.status).toBe(429);
  expect(Number(denied!.headers['retry-after'])).toBeGreaterThan(50);
});

test('the throttler blocks for another ttl after a denial, ours until the window allows a request', async () => {
  const script = `
    const { ThrottlerStorageService } = require('@nestjs/throttler');
    let now = 0;
    Date.now = () => now;
    const storage = new ThrottlerStorageService();
    (async () => {
      for (now of [0, 600, 1100, 1700]) console.log((await storage.increment('k', 1000, 1, 1000, 'default')).isBlocked);
    })();`;
  const { output } = await run(process.execPath, ['-e', script], { cwd: root });
  expect(output.match(/true|false/g)).toEqual(['false', 'true', 'true', 'false']);

  const clock = new ManualClock();
  const policy = slidingLog({ limit: 1, window: 1000 });
  const limiter = new RateLimiter({ name: 'k', policy, store: memoryStore({ clock }) });
  const allowed = [];
  for (const pause of [0, 600, 500, 600]) {
    await clock.advance(pause);
    allowed.push((await limiter.consume('k')).allowed);
  }
  expect(allowed).toEqual([true, false, true, false]);
});

test('the throttler forgets requests when a short block ends, ours keeps the window', async () => {
  const script = `
    const { ThrottlerStorageService } = require('@nestjs/throttler');
    let now = 0;
    Date.now = () => now;
    const storage = new ThrottlerStorageService();
    (async () => {
      for (now of [0, 0, 0, 5000, 5000]) console.log((await storage.increment('k', 10_000, 2, 5000, 'default')).isBlocked);
      storage.onApplicationShutdown();
    })();`;
  const { output } = await run(process.execPath, ['-e', script], { cwd: root });
  expect(output.match(/true|false/g)).toEqual(['false', 'false', 'true', 'false', 'false']);

  const clock = new ManualClock();
  const limiter = new RateLimiter({
    name: 'k',
    policy: slidingLog({ limit: 2, window: '10s' }),
    escalate: { after: 1, within: '10s', block: ['5s'] },
    store: memoryStore({ clock }),
  });
  const allowed = [];
  for (const pause of [0, 0, 0, 5000, 5000]) {
    await clock.advance(pause);
    allowed.push((await limiter.consume('k')).allowed);
  }
  expect(allowed).toEqual([true, true, false, false, true]);
});

test('the throttler counts requests that another throttler denies, ours does not', async () => {
  const script = `
    require('reflect-metadata');
    const { ThrottlerGuard, ThrottlerStorageService } = require('@nestjs/throttler');
    const storage = new ThrottlerStorageService();
    const throttlers = [{ name: 'large', ttl: 60000, limit: 9 }, { name: 'small', ttl: 70000, limit: 1 }];
    const guard = new ThrottlerGuard(throttlers, storage, { getAllAndOverride: () => undefined });
    const context = { getHandler: () => function handler() {}, getClass: () => class C {},
      switchToHttp: () => ({ getRequest: () => ({ ip: '192.0.2.1' }), getResponse: () => ({ header() {} }) }) };
    (async () => {
      await guard.onModuleInit();
      for (let i = 0; i < 4; i += 1) await guard.canActivate(context).catch(() => {});
      console.log('large: ' + [...storage.storage.values()].map(({ totalHits }) => totalHits.get('large')).find(Boolean));
    })();`;
  const { output } = await run(process.execPath, ['-e', script], { cwd: root });
  expect(output).toContain('large: 4');

  const policies = {
    large: slidingLog({ limit: 9, window: '1m' }),
    small: slidingLog({ limit: 1, window: '70s' }),
  };
  const limiter = new RateLimiter({ policies });
  for (let at = 0; at < 4; at += 1) await limiter.consume('k');
  expect((await limiter.peek('k')).policies).toMatchObject([
    { name: 'large', remaining: 8 },
    { name: 'small' },
  ]);
});
