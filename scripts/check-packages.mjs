// Packs every package, and checks the tarballs with publint (strict), Are The Types Wrong, and the size limits of package-sizes.json.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packAll } from './pack.mjs';
import { packages, root } from './packages.mjs';

const unbuilt = packages.filter(({ folder }) => !existsSync(join(folder, 'dist/cjs/package.json')));
if (unbuilt.length > 0) {
  console.error(`not built: ${unbuilt.map(({ name }) => name).join(', ')}; run npm run build first`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-pack-'));
try {
  const limits = JSON.parse(readFileSync(join(root, 'scripts/package-sizes.json'), 'utf8'));
  for (const { name, tarball, ...sizes } of packAll(folder)) {
    const data = new Uint8Array(readFileSync(tarball));
    const faults = [
      ...(await faultsOfManifest(data)),
      ...(await faultsOfTypes(data)),
      ...growth(sizes, limits[name] ?? limits.default),
    ];
    const { size, unpackedSize, files } = sizes;
    const state = faults.length === 0 ? 'clean' : 'NOT CLEAN';
    console.log(`${state}: ${name}, ${kB(size)} packed, ${kB(unpackedSize)} unpacked, ${files} files`);
    for (const fault of faults) console.log(`  ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function faultsOfManifest({ buffer }) {
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }));
}

/** Types that an importer would not find, or that do not fit the code, by each way to import them. */
async function faultsOfTypes(data) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(data));
  return [...(types ? [] : ['It has no types.']), ...problems.map((problem) => JSON.stringify(problem))];
}

/** A sentence for each limit that is exceeded. */
function growth(sizes, limits) {
  return ['size', 'unpackedSize', 'files']
    .filter((measure) => !(sizes[measure] <= limits[measure]))
    .map(
      (measure) =>
        `${measure} is ${sizes[measure]}, but scripts/package-sizes.json allows ${limits[measure]}. Ship less, or raise the limit and say why.`,
    );
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
