import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

const root = resolve(__dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const yaml = (path: string) => parse(read(path), { strict: true });
const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);
const REPOSITORY = 'https://github.com/sluice-limits/sluice';

test.each(packages)('packages/%s names its repository', (name) => {
  const manifest = JSON.parse(read(`packages/${name}/package.json`));
  expect(manifest).toMatchObject({
    name: `@sluice/${name}`,
    description: expect.stringMatching(/.{20}/),
    license: 'MIT',
    author: 'The Sluice authors',
    homepage: `${REPOSITORY}/tree/main/packages/${name}#readme`,
    bugs: `${REPOSITORY}/issues`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `packages/${name}` },
    engines: { node: '>=20' },
  });
  expect(manifest.keywords).toEqual(expect.arrayContaining(['rate-limit', 'rate-limiter']));
  for (const file of ['README.md', 'LICENSE']) accessSync(join(root, 'packages', name, file));
});

test('the size limits are those of packages that exist, and a default for the others', () => {
  const { default: others, ...limits } = JSON.parse(read('scripts/package-sizes.json'));
  const all = packages.map((name) => `@sluice/${name}`);
  expect(Object.keys(limits).filter((name) => !all.includes(name))).toEqual([]);
  for (const limit of [others, ...Object.values<object>(limits)]) {
    expect(Object.keys(limit)).toEqual(['size', 'unpackedSize', 'files']);
  }
});

test.each([
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CODE_OF_CONDUCT.md',
  'LICENSE',
  '.editorconfig',
  '.gitattributes',
  '.github/pull_request_template.md',
  'docs/compatibility.md',
])('%s exists', (path) => expect(read(path).length).toBeGreaterThan(50));

test('CI runs .ci/run on every supported version of Node.js', () => {
  const { on, jobs } = yaml('.github/workflows/ci.yml');
  expect(Object.keys(on)).toEqual(['push', 'pull_request']);
  expect(jobs.test.strategy.matrix.node).toEqual([20, 22, 24, 26]);
  const runs = jobs.test.steps.flatMap(({ run }: { run?: string }) => run ?? []);
  expect(runs).toEqual(['.ci/run']);
  const setUp = jobs.test.steps.find(({ uses }: { uses?: string }) =>
    uses?.startsWith('actions/setup-node@'),
  );
  expect(setUp.with['node-version']).toBe('$' + '{{ matrix.node }}');
  accessSync(join(root, '.ci/run'), constants.X_OK);
});

const workflows = readdirSync(join(root, '.github/workflows')).map((file) => `.github/workflows/${file}`);

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}
const jobsOf = (workflow: string): Job[] => Object.values(yaml(workflow).jobs);
const runsOf = (job: Job): string[] => job.steps.flatMap(({ run }) => run ?? []);

test.each(workflows)('%s pins each action by commit, with its version', (workflow) => {
  const used = [...read(workflow).matchAll(/uses: (.*)/g)].map(([, what]) => what);
  expect(used.length).toBeGreaterThan(0);
  for (const what of used) expect(what).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
});

test.each(workflows)('%s has only read rights, and installs by the lockfile', (workflow) => {
  expect(yaml(workflow).permissions).toEqual({ contents: 'read' });
  for (const runs of jobsOf(workflow).map(runsOf)) {
    const installs = runs.findIndex((run) => run.startsWith('npm install'));
    if (installs >= 0) expect(runs[installs + 1]).toBe('node scripts/check-lockfile.mjs');
  }
  expect(read('.ci/run')).toContain('step npm install\nstep node scripts/check-lockfile.mjs\n');
});

test('the release workflow publishes in a job without code of the repository', () => {
  const { on, jobs } = yaml('.github/workflows/release.yml') as { on: string; jobs: Record<string, Job> };
  expect(on).toBe('workflow_dispatch');
  const signing = Object.values(jobs).filter(({ permissions }) => permissions?.['id-token'] === 'write');
  expect(signing).toEqual([jobs.publish]);
  const { needs, permissions, steps } = jobs.publish!;
  expect([needs, permissions]).toEqual(['pack', { 'id-token': 'write' }]);
  expect(steps.map(({ uses, run }) => uses?.replace(/@.*/, '') ?? run)).toEqual([
    'actions/setup-node',
    'actions/download-artifact',
    expect.stringMatching(/^while read -r package tarball.*npm publish .*--provenance --ignore-scripts/s),
  ]);
  expect(jobs.pack!.permissions).toBeUndefined();
  expect(runsOf(jobs.pack!)).toEqual(
    expect.arrayContaining(['npm test', 'npm run release -- --pack tarballs']),
  );
});

const FORMS = '.github/ISSUE_TEMPLATE';
const forms = readdirSync(join(root, FORMS)).filter((file) => file !== 'config.yml');

test.each(forms)('GitHub accepts the issue form %s', (file) => {
  const { name, description, body } = yaml(join(FORMS, file));
  expect([name, description]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
  const fields = body.filter(({ type }: { type: string }) => type !== 'markdown');
  const ids = fields.map(({ id }: { id: string }) => id);
  expect(new Set(ids).size).toBe(fields.length);
  for (const { type, attributes } of fields) {
    expect(['input', 'textarea', 'dropdown', 'checkboxes']).toContain(type);
    expect(attributes.label).toMatch(/./);
  }
});

test('issues link to other places for help and security problems', () => {
  const { contact_links } = yaml(join(FORMS, 'config.yml'));
  const urls = contact_links.map(({ url }: { url: string }) => url);
  expect(urls).toEqual([`${REPOSITORY}/security/advisories/new`, `${REPOSITORY}/discussions`]);
});

test('Dependabot updates dependencies and actions', () => {
  const { version, updates } = yaml('.github/dependabot.yml');
  expect(version).toBe(2);
  const kept = updates.map((update: Record<string, unknown>) => update['package-ecosystem']);
  expect(kept).toEqual(['npm', 'github-actions']);
});

test('changesets give all packages one version', () => {
  expect(JSON.parse(read('.changeset/config.json')).fixed).toEqual([['@sluice/*']]);
});
