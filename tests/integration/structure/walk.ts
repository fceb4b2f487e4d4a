import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { run } from '../../support/run.js';

/** A function that ran. */
export interface Called {
  readonly name: string;
  /** Where it begins in the bundle, in characters. */
  readonly start: number;
  readonly count: number;
}

export interface Walk {
  /** Number of our files in which a function ran. */
  readonly files: number;
  /** Number of calls of our functions. */
  readonly calls: number;
  /** Each file with its functions, in order of their lines, to print. */
  readonly list: string;
}

const packages = resolve(__dirname, '../../../packages');

/** Our functions that run for one warmed request: the shortest walk of several requests. */
export async function walk(redisUrl: string, limiter: string): Promise<Walk> {
  const server = await bundle(join(__dirname, 'walk-server.ts'), { sourceMap: true });
  try {
    const { ok, output } = await run(process.execPath, [server.file, redisUrl, limiter]);
    if (!ok) throw new Error(output);
    const sourceOf = sources(server.file);
    const walks = (JSON.parse(output) as Called[][]).map((called) => walkOf(called, sourceOf));
    return walks.reduce((a, b) => (b.calls < a.calls ? b : a));
  } finally {
    await server.remove();
  }
}

interface Source {
  /** Below `packages`. */
  readonly path: string;
  readonly line: number;
}

/** V8's name for setting the fields of a new object, which is part of its constructor here. */
const FIELDS = '<instance_members_initializer>';

function walkOf(called: readonly Called[], sourceOf: (start: number) => Source | undefined): Walk {
  const byFile = new Map<string, { line: number; text: string }[]>();
  let calls = 0;
  for (const { name, start, count } of called) {
    const source = sourceOf(start);
    if (source === undefined || name === FIELDS) continue;
    calls += count;
    const functions = byFile.get(source.path) ?? [];
    functions.push({ line: source.line, text: `  ${count} ${name || '(no name)'} :${source.line}` });
    byFile.set(source.path, functions);
  }
  const list = [...byFile].sort().flatMap(([path, functions]) => {
    functions.sort((a, b) => a.line - b.line);
    return [path, ...functions.map(({ text }) => text)];
  });
  return { files: byFile.size, calls, list: list.join('\n') };
}

/** The source of a function of a bundle; undefined if it is not ours. */
function sources(file: string): (start: number) => Source | undefined {
  const text = readFileSync(file, 'utf8');
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  return (start) => {
    const before = text.slice(0, start);
    const line = before.split('\n').length - 1;
    const entry = map.findEntry(line, start - before.lastIndexOf('\n') - 1);
    if (!('originalSource' in entry)) return undefined;
    const path = relative(packages, resolve(dirname(file), entry.originalSource));
    return path.startsWith('..') ? undefined : { path, line: entry.originalLine + 1 };
  };
}
