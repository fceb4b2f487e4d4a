import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { transformSync } from '@swc/core';

export interface Block {
  /** `` ```ts `` or `` ```ts legacy ``. */
  readonly legacy: boolean;
  readonly source: string;
}

/** The TypeScript blocks of a Markdown file, also those that are highlighted (`{2,4}`) or in tabs (`[Redis]`). */
export function blocksOf(file: string): Block[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^```(ts(?: legacy)?)(?: [[{].*)?\n([\s\S]*?)^```$/gm)].map(
    ([, kind, source]) => ({
      legacy: kind === 'ts legacy',
      source: source!,
    }),
  );
}

/** The block that begins with `` ```ts <tag> ``. @throws Error if there is not exactly one */
export function blockTagged(file: string, tag: string): string {
  const text = readFileSync(file, 'utf8');
  const blocks = text.split(`\`\`\`ts ${tag}\n`).slice(1);
  if (blocks.length !== 1) throw new Error(`${file} has ${blocks.length} blocks of ${tag}`);
  return blocks[0]!.slice(0, blocks[0]!.indexOf('\n```'));
}

/** The values in comments after `console.log(…);`, as Node would print each. */
export const expectedLogs = ({ source }: Block): string[] =>
  [...source.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, values]) => values!);

/** @returns the logged values. Other parameters: as in `evaluateBlock` */
export const runBlock = async (
  block: Block,
  load: NodeJS.Require,
  replace: Readonly<Record<string, string>> = {},
): Promise<string[]> => (await evaluateBlock(block, load, replace)).logged;

/**
 * Runs a block as a module of its own.
 * @param load the caller's `require`, which resolves our packages
 * @param replace texts of the block, and their replacements in the test
 * @param names constants of the block to return
 */
export async function evaluateBlock(
  { source, legacy }: Block,
  load: NodeJS.Require,
  replace: Readonly<Record<string, string>> = {},
  names: readonly string[] = [],
): Promise<{ logged: string[]; values: Record<string, unknown> }> {
  let text = source;
  for (const [from, to] of Object.entries(replace)) text = text.replaceAll(from, to);
  // CommonJS has no top-level await, so the body becomes a function.
  const imports = text.match(/^import .*$/gm)?.join('\n') ?? '';
  const body = text.replace(/^import .*$/gm, '').replace(/^export (?=async |const |function )/gm, '');
  const { code } = transformSync(
    `${imports}\nexport async function main(console: Console) {${body}\nreturn { ${names.join(', ')} };\n}`,
    {
      module: { type: 'commonjs' },
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: legacy
          ? { legacyDecorator: true, decoratorMetadata: true }
          : { decoratorVersion: '2022-03' },
      },
    },
  );
  type Main = (console: { log(...values: unknown[]): void }) => Promise<Record<string, unknown>>;
  const exports: { main?: Main } = {};
  Function('require', 'exports', code)(load, exports);
  const logged: string[] = [];
  const log = (...values: unknown[]) => logged.push(values.map((value) => inspect(value)).join(' '));
  const values = await exports.main!(Object.assign(Object.create(console), { log }));
  return { logged, values };
}
