import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import * as decorators from './index.js';

const text = readFileSync(join(__dirname, '../README.md'), 'utf8');
const blocks = [...text.matchAll(/^```(ts(?: legacy)?)\n([\s\S]*?)^```$/gm)];

/** Runs a block as a module of its own, and gives what it logged. */
async function run(source: string, legacy: boolean): Promise<unknown[]> {
  // A module that CommonJS can hold has no top-level await: its body becomes a function.
  const imports = source.match(/^import .*$/gm)?.join('\n') ?? '';
  const body = source.replace(/^import .*$/gm, '');
  const { code } = transformSync(`${imports}\nexport async function main(console: Console) {${body}\n}`, {
    module: { type: 'commonjs' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: legacy
        ? { legacyDecorator: true, decoratorMetadata: true }
        : { decoratorVersion: '2022-03' },
    },
  });
  const exports: { main?: (console: { log(...values: unknown[]): void }) => Promise<void> } = {};
  const load = (name: string) => (name === '@sluice/decorators' ? decorators : jest.requireActual(name));
  Function('require', 'exports', code)(load, exports);
  const logged: unknown[] = [];
  await exports.main?.({ log: (...values) => logged.push(...values) });
  return logged;
}

beforeEach(() => decorators.configureSluice());

const listeners = process.listeners('SIGTERM');
afterEach(() => {
  for (const listener of process.listeners('SIGTERM')) {
    if (!listeners.includes(listener)) process.off('SIGTERM', listener);
  }
});

test('the README has code', () => expect(blocks).toHaveLength(6));

test.each(blocks.map(([, kind, source], at) => [at, kind, source] as const))(
  'block %i of the README runs: %s',
  async (_, kind, source) => {
    const logged = await run(source!, kind === 'ts legacy');
    if (source!.includes('429')) expect(logged).toEqual([429, '60']);
    if (source!.includes('design:paramtypes')) expect(logged).toEqual([[String, Number]]);
  },
);
