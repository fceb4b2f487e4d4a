import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const packagesFolder = resolve(__dirname, '../../../packages');

export interface SourceFile {
  /** Path below `packages`, such as `core/src/clock.ts`. */
  readonly path: string;
  readonly lines: number;
  /** Imported files of the same package, as paths below `packages`. */
  readonly files: readonly string[];
  /** The part of `files` that is loaded at run time, not only for types. */
  readonly values: readonly string[];
  /** Imported packages, as written. */
  readonly packages: readonly string[];
  /** The part of `packages` that is loaded at run time. */
  readonly loaded: readonly string[];
}

/** A file by its path. */
export type ImportGraph = ReadonlyMap<string, SourceFile>;

/** Sources of all packages, without tests. @param folder of each package */
export function importGraph(folder = 'src'): ImportGraph {
  const sources = readdirSync(packagesFolder).flatMap((name) => {
    const path = join(packagesFolder, name, folder);
    if (!existsSync(path)) return [];
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:c?ts|tsx)$/.test(file) && !/\.(test|conformance)\.ts$/.test(file))
      .map((file) => `${name}/${folder}/${file}`);
  });
  return new Map(sources.sort().map((path) => [path, sourceFile(path)]));
}

function sourceFile(path: string): SourceFile {
  const text = readFileSync(join(packagesFolder, path), 'utf8');
  const imports = importsOf(text);
  const own = imports.filter(({ name }) => /^\..*\.(?:c?[jt]s|tsx)$/.test(name));
  const others = imports.filter(({ name }) => !name.startsWith('.'));
  const paths = (list: readonly Import[]) =>
    unique(list.map(({ name }) => join(path, '..', name.replace(/js$/, 'ts'))));
  return {
    path,
    lines: text.split('\n').length - 1,
    files: paths(own),
    values: paths(own.filter(({ types }) => !types)),
    packages: unique(others.map(({ name }) => name)),
    loaded: unique(others.filter(({ types }) => !types).map(({ name }) => name)),
  };
}

interface Import {
  readonly name: string;
  readonly types: boolean;
}

/** A statement begins a line. `import()` may be anywhere except in a comment. */
function importsOf(text: string): Import[] {
  const statements = [...text.matchAll(/^(?:import|export)\b(?:([^;'"]*?)\bfrom)?\s*'([^']+)'/gm)];
  const calls = [...text.matchAll(/^(?!\s*(?:\*|\/\/)).*?(\btypeof )?\bimport\('([^']+)'\)/gm)];
  return [
    ...statements.map(([, what, name]) => ({ name: name!, types: onlyTypes(what ?? '') })),
    ...calls.map(([, what, name]) => ({ name: name!, types: what !== undefined })),
  ];
}

/** @param what the text between `import` and `from` */
function onlyTypes(what: string): boolean {
  const names = /^\s*\{(.*)\}\s*$/s.exec(what)?.[1]?.split(',') ?? [];
  const filled = names.map((name) => name.trim()).filter((name) => name !== '');
  return /^\s*type\b/.test(what) || (filled.length > 0 && filled.every((name) => name.startsWith('type ')));
}

/** The graph of imports at run time. */
export const withoutTypes = (graph: ImportGraph): ImportGraph =>
  new Map([...graph].map(([path, file]) => [path, { ...file, files: file.values }]));

const ENTRIES = ['index.ts', 'internal.ts'];

/** A room of a package: a folder, an entry, or `ground`, which is all files in no folder and the platform. An algorithm is no room of its own. */
function roomOf(path: string): string {
  const folders = path.split('/').slice(2, -1);
  if (folders[0] === 'algorithms') return 'algorithms';
  if (folders.length > 0) return folders[0] === 'platform' ? 'ground' : folders.join('/');
  const [, , file] = path.split('/');
  return ENTRIES.includes(file!) ? file! : 'ground';
}

/** The rooms of a package, each with the rooms that its files import. */
export function roomsOf(graph: ImportGraph, name: string): ImportGraph {
  const rooms = new Map<string, SourceFile & { files: string[] }>();
  for (const { path, files } of graph.values()) {
    if (!path.startsWith(`${name}/`)) continue;
    const room = roomOf(path);
    const known = rooms.get(room) ?? {
      path: room,
      lines: 0,
      files: [],
      values: [],
      packages: [],
      loaded: [],
    };
    const others = files.map(roomOf).filter((other) => other !== room);
    rooms.set(room, { ...known, files: unique([...known.files, ...others]) });
  }
  return rooms;
}

/** Groups of files that import each other, each sorted. */
export const circles = (graph: ImportGraph): string[][] =>
  components(graph).filter(
    ([first, ...others]) => others.length > 0 || filesOf(graph, first!).includes(first!),
  );

/** The longest chain of imports from `path` down. A circle is one link, with all of its files. */
export function longestChain(graph: ImportGraph, path: string): string[][] {
  const chains = new Map<string, string[][]>();
  for (const files of components(graph)) {
    const below = files
      .flatMap((file) => filesOf(graph, file))
      .filter((file) => !files.includes(file))
      .map((file) => chains.get(file)!);
    const longest = below.reduce((a, b) => (b.length > a.length ? b : a), []);
    for (const file of files) chains.set(file, [files, ...longest]);
  }
  return chains.get(path)!;
}

function filesOf(graph: ImportGraph, path: string): readonly string[] {
  const file = graph.get(path);
  if (file === undefined) throw new Error(`${path} is imported, but there is no such file`);
  return file.files;
}

/** Strongly connected components by Tarjan's algorithm: each comes after all that it imports. */
function components(graph: ImportGraph): string[][] {
  const found: string[][] = [];
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string): number => {
    const known = lowest.get(path);
    if (known !== undefined) return known;
    const index = lowest.size;
    lowest.set(path, index);
    open.push(path);
    const low = Math.min(index, ...filesOf(graph, path).map(visit));
    if (low < index) {
      lowest.set(path, low);
      return low;
    }
    const files = open.splice(open.indexOf(path)).sort();
    for (const file of files) lowest.set(file, Number.POSITIVE_INFINITY);
    found.push(files);
    return Number.POSITIVE_INFINITY;
  };
  for (const path of graph.keys()) visit(path);
  return found;
}

const unique = (list: readonly string[]): string[] => [...new Set(list)];
