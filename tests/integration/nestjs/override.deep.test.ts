import { join } from 'node:path';
import supertest from 'supertest';
import { compile, NestApp } from './nest-app.js';

let compiled: Awaited<ReturnType<typeof compile>>;
let app: NestApp;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'apps/override.legacy.ts'));
});
afterAll(() => compiled?.remove());

const get = (path: string, user = 'ann') => supertest(app.url).get(path).set('x-user', user);
const namesOf = (policies = '') => [...policies.matchAll(/"([^"]+)"/g)].map(([, name]) => name);

/** Sends requests until one is denied. */
async function allowed(
  path: string,
  user?: string,
): Promise<{ passed: number; status: number; names: unknown[] }> {
  for (let passed = 0; ; passed += 1) {
    const { status, headers } = await get(path, user);
    if (status !== 200 || passed === 20)
      return { passed, status, names: namesOf(headers['ratelimit-policy']) };
  }
}

describe.each(['express', 'fastify'])("the module's limit on %s", (PLATFORM) => {
  beforeAll(async () => {
    app = await NestApp.start(compiled.file, { PLATFORM });
  });
  afterAll(() => app?.kill());

  test('@SkipLimit() on a handler does not skip its own guard', async () => {
    expect(await allowed('/account/login')).toEqual({ passed: 1, status: 429, names: ['login'] });
  });

  test('@SkipLimit() on a controller does not skip its own guards, on a handler it does', async () => {
    const names = ['default.shared', 'default.user'];
    expect(await allowed('/guarded')).toEqual({ passed: 1, status: 429, names });
    expect(await allowed('/guarded/free')).toMatchObject({ passed: 20, names: [] });
    // The limit of the user also counted.
    expect(await allowed('/guarded/user')).toEqual({ passed: 1, status: 429, names: ['default.user'] });
  });

  test('@SkipLimit(name) skips one of several limits, and the others still count', async () => {
    const leftForAll = async (user: string) => {
      const { headers } = await get('/account', user).expect(200);
      return Number(/"default.everybody";r=(\d+);/.exec(headers.ratelimit!)![1]);
    };
    const before = await leftForAll('bob');
    expect(await allowed('/account/quiet', 'bob')).toEqual({
      passed: 2,
      status: 420,
      names: ['default.perUser'],
    });
    await get('/account', 'bob').expect(420);
    expect(await leftForAll('cara')).toBe(before - 1);
    expect(await allowed('/account/free', 'bob')).toMatchObject({ passed: 20, names: [] });
  });

  test('an unknown name in @SkipLimit causes one warning with the nearest name', async () => {
    expect(app.output).not.toContain('SLUICE_OVERRIDE_UNUSED');
    await get('/account/misspelt', 'finn').expect(200);
    await get('/account/misspelt', 'finn').expect(200);
    await app.says("did you mean 'everybody'?");
    expect(app.output.match(/\[SLUICE_SKIPS_NOTHING\].*/g)).toEqual([
      expect.stringContaining("@SkipLimit('evrybody') skips nothing"),
    ]);
  });

  test('@OverrideLimit on a handler has its own count and inherits the other options', async () => {
    const names = ['default:Account.code'];
    expect(await allowed('/account/code', 'dora')).toEqual({ passed: 1, status: 420, names });
    expect(await allowed('/account', 'dora')).toMatchObject({ passed: 3, status: 420 });
  });

  test('@OverrideLimit without a policy changes the cost in the limit of the module', async () => {
    await get('/account/report', 'eve').expect(200);
    await get('/account/report', 'eve').expect(420);
    expect(await allowed('/account', 'eve')).toMatchObject({ passed: 1, status: 420 });
  });

  test('@OverrideLimit on a controller is one limit for its handlers, and one on a handler has priority', async () => {
    await get('/few/one').expect(200);
    await get('/few/other').expect(200);
    expect(await allowed('/few/one')).toEqual({ passed: 0, status: 503, names: ['few'] });
    expect(await allowed('/few/fewer')).toEqual({ passed: 1, status: 420, names: ['default:Few.fewer'] });
    expect(await allowed('/few/free')).toMatchObject({ passed: 20, names: [] });
  });
});

test.each([
  ['override', /@OverrideLimit on Account.code: timeout must be/],
  ['module', /import SluiceModule\.forRoot\(\{ … \}\) once/],
  ['guard', /write @UseGuards\(RateLimitGuard\(\{ … \}\)\)/],
])('an invalid %s fails when the application starts', async (WRONG, message) => {
  await expect(NestApp.start(compiled.file, { WRONG })).rejects.toThrow(message);
});

test('@OverrideLimit without the module causes a warning at start', async () => {
  const alone = await NestApp.start(compiled.file, { WRONG: 'no module' });
  await alone.says('Few.fewer');
  expect(alone.output.match(/\[SLUICE_OVERRIDE_UNUSED\] .*?has no effect/g)?.sort()).toEqual(
    ['Account.code', 'Account.report', 'Few', 'Few.fewer'].map(
      (where) => `[SLUICE_OVERRIDE_UNUSED] SluiceWarning: @OverrideLimit on ${where} has no effect`,
    ),
  );
  await alone.kill();
});
