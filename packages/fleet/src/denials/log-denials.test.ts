import { createHash } from 'node:crypto';
import { fixedWindow, RateLimiter } from '@sluice/core';
import fastify from 'fastify';
import { type DenialLine, type DenialLogger, type LogDenialsOptions, logDenials } from './log-denials.js';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function start(logger: DenialLogger, options?: LogDenialsOptions) {
  const stop = logDenials(logger, options);
  closers.push(stop);
  return stop;
}

/** The lines that pino, the logger of Fastify, wrote, parsed as a log collector does. */
function pinoLines(options?: LogDenialsOptions) {
  const written: string[] = [];
  const app = fastify({ logger: { base: null, stream: { write: (text) => written.push(text) } } });
  const stop = start(app.log, options);
  const lines = (): DenialLine[] => written.map((text) => JSON.parse(text));
  return { written, lines, stop };
}

const closed = (name: string) => new RateLimiter({ name, policy: fixedWindow({ limit: 1, window: '1h' }) });

async function deny(limiter: RateLimiter, key: string, times = 1) {
  await limiter.consume(key);
  for (let i = 0; i < times; i += 1) await limiter.consume(key);
}

test('pino receives one structured line for a denial, and none for an allowed call', async () => {
  const { lines } = pinoLines({ keys: 'plain' });
  const api = closed('api');
  await api.consume('ann');
  expect(lines()).toEqual([]);
  await api.consume('ann', { cost: 1, shadow: true });
  expect(lines()).toEqual([
    {
      level: 40,
      time: expect.any(Number),
      msg: 'rate limit denied a call',
      limiter: 'api',
      policy: 'api',
      key: 'ann',
      cost: 1,
      limit: 1,
      retryAfter: expect.any(Number),
      mode: 'shadow',
      source: 'memory',
      degraded: false,
      suppressed: 0,
    },
  ]);
});

test('a console receives one line of JSON', async () => {
  const warned = jest.spyOn(console, 'warn').mockImplementation(() => {});
  try {
    start(console, { keys: 'plain' });
    await deny(closed('api'), 'ann');
    expect(warned.mock.calls).toEqual([[expect.not.stringContaining('\n')]]);
    expect(JSON.parse(warned.mock.calls[0]![0])).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'warn',
      msg: 'rate limit denied a call',
      limiter: 'api',
      key: 'ann',
      suppressed: 0,
    });
  } finally {
    warned.mockRestore();
  }
});

test('one denial in `sample` of a key is logged, with the number suppressed', async () => {
  const { lines } = pinoLines({ sample: 4, keys: 'plain' });
  const api = closed('api');
  await deny(api, 'ann', 9);
  await deny(api, 'bob');
  expect(lines().map(({ key, suppressed }) => [key, suppressed])).toEqual([
    ['ann', 0],
    ['ann', 3],
    ['ann', 3],
    ['bob', 0],
  ]);
});

test('the default logs one denial in 100; a sample of 1 logs all', async () => {
  const some = pinoLines();
  const all = pinoLines({ sample: 1, maxPerSecond: 1000 });
  await deny(closed('api'), 'ann', 201);
  expect(some.lines().map(({ suppressed }) => suppressed)).toEqual([0, 99, 99]);
  expect(all.lines()).toHaveLength(201);
});

test('at most `maxPerSecond` lines are logged per second; later lines count the suppressed ones', async () => {
  const { lines } = pinoLines({ sample: 1, maxPerSecond: 2, keys: 'plain' });
  const clock = jest.spyOn(performance, 'now').mockReturnValue(10_000);
  try {
    const api = closed('api');
    for (const key of ['ann', 'bob', 'cid', 'cid']) await deny(api, key);
    clock.mockReturnValue(11_000);
    await deny(api, 'cid');
    expect(lines().map(({ key, suppressed }) => [key, suppressed])).toEqual([
      ['ann', 0],
      ['bob', 0],
      ['cid', 3],
      ['cid', 0],
    ]);
  } finally {
    clock.mockRestore();
  }
});

test('keys are hashed by default', async () => {
  const { lines } = pinoLines();
  await deny(closed('api'), 'ann@example.com');
  const hash = createHash('sha256').update('ann@example.com').digest('base64url').slice(0, 16);
  expect(lines()[0]!.key).toBe(`#${hash}`);
});

test('limiters that are not listed in `limiters` are not logged', async () => {
  const { lines } = pinoLines({ limiters: ['login'] });
  await deny(closed('api'), 'ann');
  await deny(closed('login'), 'ann');
  expect(lines().map(({ limiter }) => limiter)).toEqual(['login']);
});

test('logging ends when it is stopped', async () => {
  const { lines, stop } = pinoLines();
  stop();
  await deny(closed('api'), 'ann');
  expect(lines()).toEqual([]);
});

test.each([
  ['line breaks', 'ann\n{"level":50,"msg":"forged"}\r\n'],
  ['terminal codes', '\u001b[2J\u001b[31mann\u009b1m\u0007'],
  ['line separators', 'ann\u2028\u2029\u0085'],
  ['1 MB', 'x'.repeat(1_000_000)],
  ['1 MB of line breaks', '\n'.repeat(1_000_000)],
])('a key with %s stays one short line', async (_, key) => {
  const { written } = pinoLines({ keys: 'plain', sample: 1 });
  const texts: string[] = [];
  start({ table: true, warn: (text: string) => texts.push(text) } as DenialLogger, { keys: 'plain' });
  await deny(closed('api'), key);
  const [line] = written;
  expect(written).toHaveLength(1);
  expect(line).toMatch(/^[ -~]{1,500}\n$/);
  expect(texts).toEqual([expect.stringMatching(/^[ -~]{1,500}$/)]);
});

test('among a million keys, the least recently denied are forgotten and count as new', async () => {
  const { lines } = pinoLines({ sample: 1000, keys: 'plain', maxPerSecond: 100_000 });
  const api = closed('api');
  await deny(api, 'first');
  for (let i = 0; i < 10_000; i += 1) await deny(api, `k${i}`);
  await deny(api, 'first');
  const [last] = lines().slice(-1);
  expect(last).toMatchObject({ key: 'first', suppressed: 0 });
  expect(lines().length).toBe(10_002);
});

describe('a logger that fails', () => {
  let warned: jest.SpyInstance;
  beforeEach(() => {
    warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  });
  afterEach(() => warned.mockRestore());

  const failures: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('the disk is full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
  ];

  test.each(failures)('and %s does not change decisions; the process warns once', async (_, warnOf) => {
    const warn = jest.fn(warnOf);
    start({ warn }, { sample: 1 });
    const uncaught = jest.fn();
    process.on('uncaughtException', uncaught).on('unhandledRejection', uncaught);
    const api = closed('api');
    await deny(api, 'ann', 3);
    expect((await api.consume('ann')).allowed).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('uncaughtException', uncaught).off('unhandledRejection', uncaught);
    expect(uncaught).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledTimes(4);
    expect(warned.mock.calls).toEqual([
      [
        'logDenials: the logger failed, so lines are missing in the log: the disk is full. The next line is tried again, without another warning',
        expect.objectContaining({ code: 'SLUICE_LOG_FAILED' }),
      ],
    ]);
  });

  test.each([undefined, null, 'text', Object.create(null)])('with %p also warns', async (thrown) => {
    start({
      warn() {
        throw thrown;
      },
    });
    await deny(closed('api'), 'ann');
    expect(warned).toHaveBeenCalledTimes(1);
  });
});

test.each([undefined, null, {}, 'console', () => {}, { info() {} }])('the logger %p is refused', (logger) => {
  expect(() => logDenials(logger as DenialLogger)).toThrow(
    /^logDenials: pass a logger with a method warn\(fields, message\), such as pino\(\) or console, not /,
  );
});

test.each<[object, string]>([
  [{ samples: 10 }, "logDenials has no option 'samples'; did you mean 'sample'?"],
  [{ sample: 0 }, 'logDenials: sample must be a whole number from 1'],
  [{ sample: 0.01 }, 'logDenials: sample must be a whole number from 1'],
  [{ maxPerSecond: '5' }, 'logDenials: maxPerSecond must be a whole number from 1'],
  [{ keys: 'plan' }, "logDenials: keys must be 'plain' or 'hash', not \"plan\""],
  [{ limiters: 'api' }, 'logDenials: limiters must be an array of limiters\' names, not "api"'],
  [{ limiters: [1] }, "logDenials: limiters must be an array of limiters' names, not an array"],
])('the options %j are refused', (options, message) => {
  expect(() => logDenials(console, options)).toThrow(message);
});
