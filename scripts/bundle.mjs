// Bundles what tsc compiled, as ES modules and as CommonJS. Both formats are cut into the same parts, each smaller than the window
// of gzip. A tarball has the two formats of a part side by side, so the second format adds little to it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

/** The window of gzip, bytes. */
const WINDOW = 32_768;
/** Leaves room in the window for a part's imports and exports, and for the headers of the tarball. */
const LARGEST_PART = 26_000;

/**
 * @param compiled folder of ES modules without comments
 * @param entries their entry points, as paths in `compiled` without an extension: `index`, `operations/index`
 * @param target gets the folders `esm` and `cjs`
 */
export async function bundle(compiled, entries, target) {
  const entryPoints = Object.fromEntries(entries.map((entry) => [entry, `./${entry}.js`]));
  const options = {
    absWorkingDir: compiled,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outdir: join(target, 'esm'),
    packages: 'external',
    chunkNames: '[hash]',
    write: false,
    logLevel: 'warning',
  };
  // Without this file esbuild would read the package's `sideEffects: false`, and drop the imports that define the parts.
  writeFileSync(join(compiled, 'package.json'), '{ "type": "module" }\n');
  const whole = await build({ ...options, entryPoints, metafile: true, plugins: [separateFiles] });
  const parts = cut(modulesInOrder(whole.metafile));
  const { outputFiles } = await build({
    ...options,
    entryPoints: { ...entryPoints, ...Object.fromEntries(parts.map((_, n) => [`part-${n}`, `part:${n}`])) },
    plugins: [separateFiles, partsPlugin(parts, compiled)],
  });
  const platforms = await bundlePlatforms(options);
  const [esm, cjs] = [join(target, 'esm'), join(target, 'cjs')];
  for (const { path, text: printed } of [...outputFiles, ...platforms]) {
    if (basename(path).startsWith('part-')) continue;
    // No module has effects when it loads (`sideEffects: false`), so imports without names do nothing, and bundlers warn of them.
    const text = printed.replace(/^import "\.[^"]+";\n/gm, '');
    if (basename(path) !== `${WEB}.js`) {
      // Programs that call `require` run on Node.js. The `imports` of package.json have the paths of the ES modules.
      const node = join(relative(dirname(path), esm), `${NODE}.js`);
      write(path.replace(esm, cjs), commonJsOf(text.replaceAll('"#platform"', `"./${node}"`), path));
    }
    write(path, text.length > WINDOW ? reexport(text, path) : text);
  }
  for (const file of readdirSync(compiled, { recursive: true }).filter((name) => name.endsWith('.cjs'))) {
    for (const folder of [esm, cjs]) write(join(folder, basename(file)), readFileSync(join(compiled, file)));
  }
  // Bundlers read `sideEffects` here, and not in the package's own file.
  write(join(cjs, 'package.json'), '{"type":"commonjs","sideEffects":false}\n');
}

const [NODE, WEB] = ['platform-node', 'platform-web'];

/** What `#platform` stands for: a file for Node.js and one for the web, each with all that it needs. */
async function bundlePlatforms(options) {
  if (!existsSync(join(options.absWorkingDir, 'platform'))) return [];
  const entryPoints = { [NODE]: './platform/node.js', [WEB]: './platform/web.js' };
  const { outputFiles } = await build({
    ...options,
    splitting: false,
    entryPoints,
    plugins: [separateFiles],
  });
  return outputFiles;
}

/**
 * Files beside the parts of both formats: `#platform`, which the program's runtime chooses, and a CommonJS source, x.cts, because it calls
 * `require` later.
 */
const separateFiles = {
  name: 'separate-files',
  setup({ onResolve }) {
    onResolve({ filter: /^#platform$/ }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /\.cjs$/ }, ({ path }) => ({ path: `./${basename(path)}`, external: true }));
  },
};

/** The Lua text is larger than the window, so both formats use the CommonJS file. */
function reexport(text, path) {
  const names = /^export (\{[^}]*\});$/m.exec(text)?.[1];
  if (names === undefined || /^import\b/m.test(text)) {
    throw new Error(
      `${path}: a module of ${text.length} bytes must only export constants. Split it into smaller modules`,
    );
  }
  const variables = names.replace(/\w+ as (\w+)/g, '$1');
  return `export ${variables} from "../cjs/${basename(path)}";\n`;
}

/** All modules, each after its imports (there are no circular ones), with its size in the bundle. */
function modulesInOrder({ inputs, outputs }) {
  const sizes = new Map();
  for (const output of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) sizes.set(path, bytesInOutput);
  }
  const ordered = new Map();
  const visit = (path) => {
    if (ordered.has(path)) return;
    for (const imported of inputs[path].imports) if (!imported.external) visit(imported.path);
    ordered.set(path, sizes.get(path) ?? 0);
  };
  for (const path of Object.keys(inputs)) visit(path);
  return [...ordered];
}

function cut(modules) {
  const parts = [[]];
  let size = 0;
  for (const [path, bytes] of modules) {
    if (size > 0 && size + bytes > LARGEST_PART) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1).push(path);
    size += bytes;
  }
  return parts;
}

/**
 * Entry points for esbuild, which puts modules into one file if the same entry points reach them: entry n imports the parts 0 to n, so
 * part k is what only the entries from k on reach. A part imports only parts before it.
 */
function partsPlugin(parts, resolveDir) {
  return {
    name: 'parts',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^part:/ }, ({ path }) => ({ path: path.slice(5), namespace: 'part' }));
      onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => {
        const modules = parts.slice(0, Number(path) + 1).flat();
        return { contents: modules.map((module) => `import './${module}';`).join('\n'), resolveDir };
      });
    },
  };
}

/**
 * The same text with other imports and exports: esbuild prints these in one form, and they name no variable that changes later. esbuild's own
 * CommonJS also changes each use of an import, and would compress half as well beside the original.
 */
function commonJsOf(text, path) {
  const names = (list) => list.replace(/(\w+) as (\w+)/g, '$1: $2');
  const code = text
    .replace(
      /^import \{([^}]*)\} from ("[^"]+");$/gm,
      (_, list, from) => `const {${names(list)}} = require(${from});`,
    )
    .replace(/^import (?:\* as )?(\w+) from ("[^"]+");$/gm, 'const $1 = require($2);')
    .replace(/^export \{([^}]*)\};$/gm, (_, list) => {
      return `module.exports = {${list.replace(/(\w+) as (\w+)/g, '$2: $1')}};\nObject.defineProperty(module.exports, "__esModule", { value: true });`;
    });
  const missed = /^(?:import\s*["{*\w]|export\b).*/m.exec(code);
  if (missed) throw new Error(`${path}: cannot write as CommonJS: ${missed[0]}`);
  return code;
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
