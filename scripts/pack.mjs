import { spawnSync } from 'node:child_process';
import { packages, root } from './packages.mjs';

/**
 * Packs every package with npm, as publishing would.
 * @returns for each package its name, its folder and its tarball's file name in `destination`
 */
export function packAll(destination) {
  const workspaces = packages.flatMap(({ name }) => ['-w', `packages/${name}`]);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination, ...workspaces];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  const answer = JSON.parse(stdout);
  // npm 11 answers with a list, others with an object by name
  const tarballs = new Map(Object.values(answer).map(({ name, filename }) => [name, filename]));
  return packages.map(({ name, folder }) => {
    const tarball = tarballs.get(`@sluice/${name}`);
    if (tarball === undefined) throw new Error(`npm packed no tarball of @sluice/${name}`);
    return { name, folder, tarball: tarball.replace('@', '').replace('/', '-') };
  });
}
