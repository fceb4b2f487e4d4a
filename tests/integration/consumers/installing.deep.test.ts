import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { registryPackages } from '../../support/registry-packages.js';
import { run } from '../../support/run.js';
import { Installation } from './installation.js';

const root = resolve(__dirname, '../../..');
/** What the project of a user calls, of the packages that were named and of one that these brought. */
const PROGRAM = `
import { fixedWindow, redisStore } from '@sluice/core';
import { rateLimit } from '@sluice/fetch';
const limit = rateLimit({ policy: fixedWindow({ limit: 1, window: '1h' }) });
const statuses = [];
for (const ip of ['192.0.2.7', '192.0.2.7']) {
  statuses.push((await limit(new Request('https://example.com/'), { ip }))?.status);
}
const store = redisStore('redis://127.0.0.1:1');
await store.connect().catch(({ message }) => console.log(JSON.stringify(statuses), message));
await store.close();
`;
const PRINTED = '[null,429] redisStore: no connection (connect ECONNREFUSED 127.0.0.1:1)';

let installed: Installation;
let tools: string;
let folder: string;
beforeAll(async () => {
  installed = await Installation.create();
  tools = await registryPackages('project-tools', {
    pnpm: '10.33.0',
    '@yarnpkg/cli-dist': '4.18.1',
    webpack: '5.112.2',
    'webpack-cli': '7.3.1',
    vite: '8.3.8',
  });
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-installing-')));
}, 600_000);
afterAll(async () => {
  await installed?.remove();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** A project with the program. */
async function projectOf(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const project = join(folder, name);
  await mkdir(project, { recursive: true });
  const all = { 'package.json': `{ "name": "${name}", "private": true }\n`, 'app.mjs': PROGRAM, ...files };
  for (const [file, text] of Object.entries(all)) await writeFile(join(project, file), text);
  return project;
}

/** npm's settings of this machine, for the package managers that do not read them. */
let settings: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  const settingOf = async (name: string) => (await run('npm', ['config', 'get', name])).output.trim();
  const [registry, certificates] = [await settingOf('registry'), await settingOf('cafile')];
  settings = {
    YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, ''),
    ...(certificates.startsWith('/') && { NODE_EXTRA_CA_CERTS: certificates }),
  };
});

/** As on a machine of a user, on which pnpm and yarn are installed. */
const environment = () => ({
  ...settings,
  PATH: [join(tools, '.bin'), process.env.PATH].join(delimiter),
  CI: 'false',
});

async function succeeds(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { ok, output } = await run(command, args, { cwd, env: environment() });
  if (!ok) throw new Error(`${command} ${args.join(' ')} failed:\n${output}`);
  return output;
}

test.each([
  ['npm', [], ['node'], ['npx', 'sluice']],
  ['pnpm', ['--with', 'pnpm'], ['node'], ['pnpm', 'sluice']],
  ['yarn', ['--with', 'yarn'], ['yarn', 'node'], ['yarn', 'sluice']],
])(
  'one command installs an adapter and the command with %s',
  async (name, options, node, sluice) => {
    const project = await projectOf(name, name === 'yarn' ? { 'yarn.lock': '' } : {});
    const { ok, output } = await installed.installInto(
      project,
      ['fetch', 'cli', 'ioredis', ...options],
      environment(),
    );
    if (!ok) throw new Error(output);
    const [program, ...args] = [...node, 'app.mjs'];
    expect(await succeeds(program!, args, project)).toContain(PRINTED);
    const { version } = JSON.parse(await readFile(join(root, 'packages/cli/package.json'), 'utf8'));
    expect(await succeeds(sluice[0]!, [sluice[1]!, '--version'], project)).toContain(version);
    expect((await readdir(join(project, 'vendor'))).join()).not.toMatch(/express|nestjs|otel/);
  },
  300_000,
);

describe.each([
  ['esbuild', 'build.mjs', [join(root, 'node_modules/esbuild')], ['node', 'build.mjs']],
  ['webpack', 'webpack.config.mjs', [], ['webpack']],
  ['vite', 'vite.config.mjs', ['vite'], ['vite', 'build']],
])('with the configuration of the page, %s', (tag, file, packages, command) => {
  test('makes a bundle that connects through an ioredis outside of it', async () => {
    const page = await readFile(join(root, 'docs/recipes/bundlers.md'), 'utf8');
    const [, text] = new RegExp(`^\`\`\`js ${tag}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)!;
    const project = await projectOf(tag, { [file]: text! });
    await cp(join(installed.folder, 'node_modules/@sluice'), join(project, 'node_modules/@sluice'), {
      recursive: true,
    });
    const links = ['ioredis', 'ipaddr.js', 'jsonpath-plus', 'negotiator', 'content-type'].map((name) =>
      join(root, 'node_modules', name),
    );
    for (const path of [...links, ...packages.map((one) => resolve(tools, one))]) {
      await symlink(await realpath(path), join(project, 'node_modules', path.split('/').at(-1)!), 'junction');
    }
    await succeeds(command[0]!, command.slice(1), project);
    const bundle = await readFile(join(project, 'dist/app.mjs'), 'utf8');
    expect(bundle).toMatch(/import ?\(['"`]ioredis['"`]\)|from ?['"]ioredis['"]/);
    expect(await succeeds('node', ['dist/app.mjs'], project)).toContain(PRINTED);
  }, 300_000);
});
