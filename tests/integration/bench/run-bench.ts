import { join, resolve } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { redisUrl } from '../../support/redis-url.js';
import { type Finished, run } from '../../support/run.js';

const root = resolve(__dirname, '../../..');

/** Runs a program of `bench` with the sources of this checkout, so that no build is needed. */
export function runner(program: string): (...options: string[]) => Promise<Finished> {
  let core: Awaited<ReturnType<typeof bundle>>;
  let otel: Awaited<ReturnType<typeof bundle>>;
  let rules: Awaited<ReturnType<typeof bundle>>;
  beforeAll(async () => {
    core = await bundle(join(root, 'packages/core/src/index.ts'));
    otel = await bundle(join(root, 'packages/otel/src/index.ts'));
    rules = await bundle(join(__dirname, 'rules.ts'));
  });
  afterAll(() => Promise.all([core, otel, rules].map((bundled) => bundled.remove())));
  return (...options) =>
    run(process.execPath, [join(root, 'bench', program), ...options], {
      cwd: root,
      env: {
        SLUICE_BENCH_CORE: core.file,
        SLUICE_BENCH_OTEL: otel.file,
        SLUICE_BENCH_RULES: rules.file,
        REDIS_URL: redisUrl(),
      },
    });
}

/** The first cell of each row of a table, and its other cells. */
export function rowsOf(output: string, title: string): { name: string; cells: string[] }[] {
  const lines = output.split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${title}`));
  if (head < 0) throw new Error(`no table ${title} in:\n${output}`);
  const end = lines.indexOf('', head);
  const rows = lines.slice(head + 2, end).map((line) => line.split('|').slice(1, -1));
  return rows.map(([name, ...cells]) => ({ name: name!.trim(), cells: cells.map((cell) => cell.trim()) }));
}
