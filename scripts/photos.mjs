// Photographs every page, dialog and terminal screen at 1280 and 390 pixels, light and dark. Look at photos/index.html.
//   node scripts/photos.mjs                     all of them, into photos/; the site must be built: npm run docs
//   node scripts/photos.mjs site/options live   those whose names begin so: site/, live/, terminal/
//   node scripts/photos.mjs --docs              draws docs/pictures/demo.png and live-page*.png instead
// Exits with 1 if a page has an error or scrolls sideways.
import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { root } from './packages.mjs';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { docs: { type: 'boolean' } } });

// Below node_modules, where the bundle finds what it does not contain.
const folder = join(root, 'node_modules/.cache/sluice-photos');
mkdirSync(folder, { recursive: true });
const outfile = join(folder, `photos-${process.pid}.cjs`);
try {
  await build({
    entryPoints: [join(root, 'scripts/photos/photos.ts')],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
  });
  const { photograph, drawDocs } = createRequire(import.meta.url)(outfile);
  if (values.docs) await drawDocs(root);
  else process.exitCode = (await photograph(root, positionals)) ? 0 : 1;
} finally {
  rmSync(outfile, { force: true });
}
