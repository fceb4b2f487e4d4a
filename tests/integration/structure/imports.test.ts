import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { circles, importGraph, longestChain, packagesFolder, roomsOf, withoutTypes } from './import-graph.js';

// Type-only imports count, too. There are no exceptions.

const graph = importGraph();

/** Rooms of core, from the top down. Each imports only itself and lower rooms; files in no room are lowest. */
const ROOMS = [
  'index.ts',
  'internal.ts',
  'shared-limiter',
  'limiter',
  'pipeline',
  'stores',
  'board',
  'engine',
  'call',
  'health',
  'algorithms',
  'keys',
  'telemetry',
];

/** Lines of a file, without generated scripts. A file has one reason to change; one that is longer than this has two. */
const MOST_LINES = 350;

/** Files on the longest chain of imports from core's index down, at run time and with types. */
const FLOORS = { values: 12, types: 20 };

/** Rooms of core above each other, and imports from one room to another. Lower them with each change that needs fewer. */
const ROOM_FLOORS = 9;
const ARROWS = 85;

const imports = (wrong: (path: string, imported: string) => boolean): string[] =>
  [...graph.values()].flatMap(({ path, files }) =>
    files.filter((file) => wrong(path, file)).map((file) => `${path} -> ${file}`),
  );

test('no import is circular', () => {
  expect(circles(graph)).toEqual([]);
  expect(circles(new Map([...graph, ...importGraph('page/src')]))).toEqual([]);
});

test('the rooms of core have few floors, few arrows between them and no circle', () => {
  const rooms = roomsOf(graph, 'core');
  expect(circles(rooms)).toEqual([]);
  const chain = longestChain(rooms, 'index.ts').flat();
  expect(chain.length > ROOM_FLOORS ? chain : []).toEqual([]);
  const arrows = [...rooms.values()].flatMap(({ path, files }) => files.map((file) => `${path} -> ${file}`));
  expect(arrows.length > ARROWS ? arrows.sort() : []).toEqual([]);
});

test('ARCHITECTURE.md names the rooms of core in their order', () => {
  const page = readFileSync(join(packagesFolder, '../ARCHITECTURE.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const rooms = ROOMS.map((room) => `\`${room}\``).join(', ');
  expect(page).toContain(`Imports lead down: ${rooms}; files in no room are the ground.`);
});

test('no folder of core imports a higher one', () => {
  const height = (path: string): number => {
    const room = ROOMS.indexOf(path.split('/')[2]!);
    return room < 0 ? 0 : ROOMS.length - room;
  };
  expect(imports((path, file) => path.startsWith('core/') && height(file) > height(path))).toEqual([]);
});

test.each([
  ['at run time', withoutTypes(graph), FLOORS.values],
  ['with types', graph, FLOORS.types],
])('core has no long chain of imports, %s', (_, imported, limit) => {
  const chain = longestChain(imported, 'core/src/index.ts').map((files) => files.join(' = '));
  expect(chain.length > limit ? chain : []).toEqual([]);
});

test('a package imports only declared packages and public entries of its siblings', () => {
  const declared = (path: string): string[] => {
    const file = join(packagesFolder, path.split('/')[0]!, 'package.json');
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(file, 'utf8'));
    return Object.keys({ ...dependencies, ...peerDependencies });
  };
  const nameOf = (imported: string) => /^(?:@[^/]+\/)?[^/]+/.exec(imported)![0];
  const entries = [
    '@sluice/core',
    '@sluice/core/internal',
    '@sluice/entries',
    '@sluice/fleet',
    '@sluice/fleet/internal',
    '@sluice/graphql',
    '@sluice/http',
    '@sluice/decorators',
    '@sluice/dashboard',
    '@sluice/mcp',
    '@sluice/meter',
    '@sluice/meter/internal',
    '@sluice/otel',
    '@sluice/outgoing',
    '@sluice/postgres',
    '@sluice/rules',
    '@sluice/rules/simulate',
    '@sluice/serve',
    '@sluice/sqlite',
    '@sluice/upstash',
  ];
  const undeclared = [...graph.values()].flatMap(({ path, packages }) => {
    const known = declared(path);
    const refused = packages.filter(
      (name) =>
        !(
          isBuiltin(name) ||
          known.includes(nameOf(name)) ||
          (name === '#platform' && /^(?:core|http)\//.test(path))
        ) ||
        (name.startsWith('@sluice/') && !entries.includes(name)),
    );
    return refused.map((name) => `${path} -> ${name}`);
  });
  expect(undeclared).toEqual([]);
  expect(imports((path, file) => path.split('/')[0] !== file.split('/')[0])).toEqual([]);
});

test('http imports only core of our packages, no framework and no store client', () => {
  const imported = [...graph.values()]
    .filter(({ path }) => path.startsWith('http/'))
    .flatMap(({ packages }) => packages)
    .filter((name) => !isBuiltin(name) && name !== '#platform');
  expect([...new Set(imported)].sort()).toEqual(['@sluice/core', '@sluice/core/internal', 'negotiator']);
});

test('http names no framework', () => {
  const NAMES = /\b(?:express(?!-rate-limit)|fastify|koa|hapi|hono|nest(?:js)?)\b/i;
  const naming = [...graph.values()].filter(
    ({ path }) => path.startsWith('http/') && NAMES.test(readFileSync(join(packagesFolder, path), 'utf8')),
  );
  expect(naming.map(({ path }) => path)).toEqual([]);
});

test.each(['core', 'http'])(
  '%s imports Node.js modules only in one file, which has a twin without them',
  (name) => {
    const { imports: aliases } = JSON.parse(readFileSync(join(packagesFolder, name, 'package.json'), 'utf8'));
    expect(aliases['#platform']['@sluice/source']).toEqual({
      node: './src/platform/node.ts',
      default: './src/platform/web.ts',
    });
    const isLoaded = (name: string) => isBuiltin(name) || ['ioredis', 'jsonpath-plus'].includes(name);
    const others = [...graph.values()].filter(
      ({ path, loaded }) => path.startsWith(`${name}/`) && !path.endsWith('.cts') && loaded.some(isLoaded),
    );
    expect(others.map(({ path }) => path)).toEqual([`${name}/src/platform/node.ts`]);
  },
);

test('fetch imports no module of Node.js', () => {
  const fetch = [...graph.values()].filter(({ path }) => path.startsWith('fetch/'));
  expect(fetch.flatMap(({ loaded }) => loaded.filter((name) => isBuiltin(name)))).toEqual([]);
});

test('no file is long', () => {
  const long = [...graph.values()].filter(
    ({ path, lines }) => lines > MOST_LINES && !path.endsWith('.script.ts'),
  );
  expect(long.map(({ path }) => path)).toEqual([]);
});
