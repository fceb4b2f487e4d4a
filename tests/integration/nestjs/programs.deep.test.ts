import { join } from 'node:path';
import type { Format } from 'esbuild';
import { run } from '../../support/run.js';
import { compile } from './nest-app.js';

/** Runs a program that prints JSON until it ends by itself. */
async function resultOf(name: string, format: Format, PLATFORM: string) {
  const { file, remove } = await compile(join(__dirname, `apps/${name}.legacy.ts`), format);
  const { ok, output } = await run(process.execPath, [file], { env: { PLATFORM } });
  await remove();
  if (!ok) throw new Error(output);
  // The program's log on stderr may arrive after the result.
  const lines = output.trim().split('\n');
  const at = lines.map((line) => line.startsWith('{')).lastIndexOf(true);
  const [result] = lines.splice(at, 1);
  return { result: JSON.parse(result!), log: lines.join('\n') };
}

const platforms = ['express', 'fastify'];

test.each(platforms)(
  'on %s the module lets non-HTTP calls pass with a warning, and a guard rejects them',
  async (platform) => {
    const { result, log } = await resultOf('contexts', 'esm', platform);
    const denied = 'RateLimitExceededError: Rate limit ';
    const refused =
      /^TypeError: RateLimitGuard: Handlers.guarded handles '\w+', not 'http'. Limit it with @RateLimit/;
    const [limited, guarded] = [expect.stringContaining(denied), expect.stringMatching(refused)];
    const rpc = expect.stringMatching(
      /^\{"status":"error","message":"Rate limit '.*' exceeded: retry in \d+ s"\}$/,
    );
    const denial = "Rate limit 'known' exceeded: retry in 3600 s";
    const expected = ['passed', `RateLimitException: ${denial}`];
    const wrong = [
      expect.stringMatching(/^TypeError: getRequestResponse returned no res. timeout, concurrency, /),
      expect.stringMatching(
        /^TypeError: getRequestResponse must return { req } or { req, res } .* not "nobody"/,
      ),
    ];
    expect(result).toEqual({
      rpc: [
        ...['passed', 'passed', 'passed rpc', rpc, guarded, 'passed'],
        JSON.stringify({ status: 'error', message: denial }),
        ...wrong,
      ],
      ws: ['passed', 'passed', 'passed ws', limited, guarded, ...expected, ...wrong],
      graphql: ['passed', 'passed', 'passed graphql', limited, guarded, ...expected, ...wrong],
    });
    expect(
      log.match(/\[SluiceModule\] limit counts HTTP requests only, so '\w+' is not limited/g),
    ).toHaveLength(3);
    expect(log).not.toContain('SLUICE_COUNTED_TWICE');
  },
);

/** CommonJS programs load Nest, which is ESM, by `require` too. */
test.each(platforms.flatMap((platform) => [['esm', platform] as const, ['cjs', platform] as const]))(
  'applications start and end, %s on %s',
  async (format, platform) => {
    const { result } = await resultOf('lifecycle', format, platform);
    const html = expect.stringMatching(/^\w+ 200 text\//);
    const served = [
      html,
      'decorated 429 application/problem+json',
      html,
      'guarded 429 application/problem+json',
    ];
    expect(result).toEqual({
      'one application after another': [served, served],
      'a store of an earlier application': expect.stringContaining(
        'pass a function that creates one for each',
      ),
      'two applications at the same time': [served, served],
      'a testing module': served,
      'an application without a server': expect.stringContaining('IP'),
      'wrong options': [
        expect.stringMatching(/^TypeError: SluiceModule has no option 'stor'/),
        expect.stringMatching(/^TypeError: SluiceModule: store must be .* not 5$/),
        expect.stringMatching(/^TypeError: SluiceModule: store must be .* not undefined$/),
        expect.stringMatching(/^TypeError: .*user must be a function, not "id"$/),
        expect.stringMatching(/^TypeError: SluiceModule: limit needs a policy/),
        expect.stringMatching(/^TypeError: SluiceModule: limit: pass policy or limits, not both/),
        expect.stringMatching(/^TypeError: SluiceModule: limit has no option 'polcy'/),
        expect.stringMatching(/^TypeError: policy must be .* not 5/),
        expect.stringMatching(/^TypeError: RateLimitGuard takes an options object/),
      ],
    });
  },
);
