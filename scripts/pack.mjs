// Exports packAll. From a shell, to try a build in another folder:
//   node scripts/pack.mjs <folder>   writes a tarball of every package there and prints a list of them as JSON
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packages, root } from './packages.mjs';

/**
 * Packs every package with npm, like `npm publish`.
 * @returns for each package its name, the path of its tarball in `destination`, and its bytes (packed, unpacked) and number of files
 */
export function packAll(destination) {
  const workspaces = packages.flatMap(({ name }) => ['-w', name]);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination, ...workspaces];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  // A list, or with newer versions of npm an object by name.
  const packed = Object.values(JSON.parse(stdout));
  return packages.map(({ name }) => {
    const found = packed.find((tarball) => tarball.name === name);
    if (found === undefined) throw new Error(`npm packed no tarball of ${name}`);
    const { filename, size, unpackedSize, entryCount } = found;
    return { name, tarball: join(destination, filename), size, unpackedSize, files: entryCount };
  });
}

if (process.argv[2] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const destination = resolve(process.argv[2]);
  mkdirSync(destination, { recursive: true });
  console.log(JSON.stringify(packAll(destination), undefined, 2));
}
