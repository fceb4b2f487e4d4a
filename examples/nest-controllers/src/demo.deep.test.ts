import { join } from 'node:path';
import { compile, NestApp } from '../../../tests/integration/nestjs/nest-app.js';
import { startRedis } from '../../../tests/support/redis/redis-server.js';

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'main.legacy.ts'));
});
const started: NestApp[] = [];
afterEach(() => Promise.all(started.splice(0).map((app) => app.kill())));
afterAll(() => compiled?.remove());

async function start(env: Record<string, string>): Promise<NestApp> {
  const app = await NestApp.start(compiled.file, { PORT: '0', DEADLINE: '5s', ...env });
  started.push(app);
  return app;
}

const ask = (url: string, body?: string) =>
  fetch(url, body === undefined ? {} : { method: 'POST', body: new URLSearchParams(body) });

describe.each(['express', 'fastify'])('on %s', (PLATFORM) => {
  test('each printed curl line ends with its first 429', async () => {
    const app = await start({ PLATFORM });
    await app.says('done\n\n');
    const lines = app.output.match(/^ {2}for .*$/gm)!;
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const [, times, url, body] = /^ {2}for i in ([\d ]+); do curl -si '([^']+)'(?: -d (\S+))?/.exec(line)!;
      const answers: Response[] = [];
      for (const _ of times!.split(' ')) answers.push(await ask(url!, body));
      expect(answers.pop()).toMatchObject({ status: 429, ok: false });
      expect(answers.map(({ ok }) => ok)).not.toContain(false);
    }
    const health = await ask(`${app.url}/sms/health`);
    expect([health.status, health.headers.get('RateLimit')]).toEqual([200, null]);
    const gateway = await ask(`${app.url}/sms/gateway`);
    expect(gateway.headers.get('RateLimit-Policy')).toMatch(
      /^"default";q=100;w=60, "countLimit-[\da-f]{8}";q=2;w=10$/,
    );
  });

  test('all spellings of a name share one count, and a request without it gets a 400', async () => {
    const { url } = await start({ PLATFORM });
    const statuses = async (path: string, bodies: readonly string[]) => {
      const all: number[] = [];
      for (const body of bodies) all.push((await ask(url + path, body)).status);
      return all;
    };
    const phones = [
      'phone=13800000000',
      'phone=138 0000 0000',
      'phone=138-0000-0000',
      'phone=%2B13800000000',
    ];
    expect(await statuses('/sms', phones)).toEqual([201, 429, 429, 429]);
    const emails = [
      'ann@example.com',
      'Ann@example.com',
      ' ANN@EXAMPLE.COM',
      'ann@example.com ',
      'aNN@example.com',
    ];
    expect(
      await statuses(
        '/account/login',
        emails.map((email) => `email=${email}`),
      ),
    ).toEqual([201, 201, 201, 429, 429]);
    for (const [path, field] of [
      ['/sms', 'phone'],
      ['/account/login', 'email'],
    ] as const) {
      const bodies = ['', `${field}=`, `${field}[]=ann@example.com`, `${field}[length]=9`, 'other=1'];
      expect([path, await statuses(path, bodies)]).toEqual([path, bodies.map(() => 400)]);
    }
  });

  test('two processes on one Redis share limits, and exit on SIGTERM', async () => {
    const redis = await startRedis();
    try {
      const both = await Promise.all([1, 2].map(() => start({ PLATFORM, REDIS_URL: redis.url })));
      const answers = await Promise.all(both.map(({ url }) => ask(`${url}/sms`, 'phone=13800000000')));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 429]);
      for (const app of both) {
        app.child.kill('SIGTERM');
        await app.exited();
        expect(app.child.signalCode).toBe('SIGTERM');
        expect(app.output).not.toMatch(/error/i);
      }
    } finally {
      await redis.stop();
    }
  });
});
