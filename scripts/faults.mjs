// Runs the fault suite, quick and deep, and prints a table of the measurements. If all tests pass, it writes the table into
// docs/reliability.md. It runs one test file at a time, so that the machine does nothing else.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
require('esbuild-register/dist/node').register();
const { withSection } = require('./sections.ts');
const { faultTable } = require('./fault-table.ts');

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'docs/reliability.md');
const scratch = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
const rows = join(scratch, 'rows');
try {
  const suites = ['tests/faults', 'tests/faults/closing', 'tests/correctness/race/slow', 'tests/faults/soak'];
  const jest = [...suites, '--runInBand'];
  const { status } = spawnSync(process.execPath, [require.resolve('jest/bin/jest'), ...jest], {
    cwd: root,
    env: { ...process.env, SLUICE_FAULT_ROWS: rows },
    stdio: 'inherit',
  });
  const lines = existsSync(rows) ? readFileSync(rows, 'utf8').trim().split('\n') : [];
  const table = faultTable(lines.map((line) => JSON.parse(line)));
  console.log(`\n${table}\n`);
  if (status === 0) {
    const where = `Node ${process.version}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}.`;
    writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'faults', `\n${table}\n\n${where}\n`));
  }
  process.exitCode = status ?? 1;
} finally {
  rmSync(scratch, { recursive: true });
}
