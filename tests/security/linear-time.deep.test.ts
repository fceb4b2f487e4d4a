import { compileKey, parseLimitType } from '@sluice/core/internal';
import {
  clientIp,
  fixedWindow,
  KeyResolutionError,
  memoryStore,
  RateLimiter,
  redisStore,
} from '../../packages/core/src/index.js';
import { pathOf, problemOfError, replyTo } from '../../packages/http/src/index.js';

const LONG = 1 << 18;
/** A text of this length would take far longer than `SOON_MS` in quadratic time. */
const FRAMED = 1 << 17;
/** Of CPU, whatever else the machine does. */
const SOON_MS = 1_250;
/** Time that the host takes away may count as CPU. It hits one attempt, and quadratic time hits each. */
const ATTEMPTS = 3;

/** Pieces whose repetitions nearly match: addresses, paths, escapes, durations, lists of types. */
const PIECES = [
  ...':.%~{}[]#<>/?&,;= \n\0"\\',
  '1',
  'a',
  'é',
  '\ud800',
  '😀',
  '1.',
  '255.255.255.255',
  '::ffff:',
  'ffff:',
  '[::1]:',
  '%eth0',
  'a+',
  'http://',
  '%7B',
  '%u',
  '1h',
  '1h1m',
  '-1',
  'a/b;q=0.5,',
  'a,',
  '#{a}',
  '#{a[*]',
  '~3A',
];
/** Texts before and after that let the match fail late. */
const FRAMES: readonly (readonly [string, string])[] = [
  ['1', '!'],
  ['[', ''],
  ['http://', '!'],
  ['/', '%'],
  ['#{', ''],
];

const store = memoryStore();
const limiter = new RateLimiter({ name: 'long', policy: fixedWindow({ limit: 1e6, window: '1h' }), store });
const several = compileKey('#{a}-#{b}/#{c}');
const problem = problemOfError(new KeyResolutionError('none'))!;
afterAll(async () => {
  await limiter.close();
  await store.close();
});

const ENTRIES: Readonly<Record<string, (text: string) => unknown>> = {
  clientIp: (text) => clientIp(text),
  'a key of a limiter': (text) => limiter.consume(text),
  'values of a template': (text) => limiter.consume(several.resolve((root) => (root === 'b' ? text : root))),
  'a name in a template': (text) => compileKey("#{a['b']}").resolve(() => ({ [text]: text })),
  'a template': (text) => compileKey(text),
  'the path of a request': (text) => pathOf(text),
  'the Accept of a request': (text) => replyTo(problem, text),
  'a message for HTML': (text) => replyTo({ ...problem, detail: text }, 'text/html'),
  'a duration': (text) => fixedWindow({ limit: 1, window: text }),
  'a limit type': (text) => parseLimitType(text),
  'a limiter name': (text) =>
    new RateLimiter({ name: text, policy: fixedWindow({ limit: 1, window: '1h' }) }),
  'an address of Redis': (text) => redisStore(text),
};

test.each(Object.entries(ENTRIES))(
  '%s reads a quarter of a megabyte in linear time',
  async (_, enter) => {
    for (const piece of PIECES) {
      const fill = (length: number) => piece.repeat(length / piece.length);
      for (const text of [fill(LONG), ...FRAMES.map(([before, after]) => before + fill(FRAMED) + after)]) {
        let took = Number.POSITIVE_INFINITY;
        for (let attempt = 0; took > SOON_MS && attempt < ATTEMPTS; attempt += 1) {
          const started = process.cpuUsage();
          try {
            await enter(text);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
            expect((error as Error).message.length).toBeLessThan(1_000);
          }
          const { user, system } = process.cpuUsage(started);
          took = (user + system) / 1000;
        }
        if (took > SOON_MS) throw new Error(`${JSON.stringify(text.slice(0, 20))}… took ${took} ms of CPU`);
      }
    }
  },
  240_000,
);
