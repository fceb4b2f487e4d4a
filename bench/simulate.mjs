// Measures `simulate` of @sluice/rules: time and memory to replay an access log of a million lines.
//   node bench/simulate.mjs           about two minutes, after npm run build
//   node bench/simulate.mjs --quick   a few seconds, to see that it works
//   node bench/simulate.mjs --write   also writes the table into bench/README.md
import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { logLines } from './lib/simulate-log.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const CHILD = fileURLToPath(new URL('lib/simulate-child.mjs', import.meta.url));
const flag = { type: 'boolean', default: false };
const { quick, write } = parseArgs({ options: { quick: flag, write: flag } }).values;
if (write && quick) throw new Error('--write needs a whole run: leave out --quick');
const LINES = quick ? 5_000 : 1_000_000;

const RUNS = [
  ['one rule, one limit', 'one'],
  ['two rules, three limits', 'three'],
  ['the same, compressed', 'three', 'gz'],
  ['the same, `against` other rules', 'three', 'against'],
  ['seven rules, one for each algorithm', 'seven'],
];

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const plain = join(folder, 'access.log');
try {
  await pipeline(Readable.from(logLines(LINES)), createWriteStream(plain));
  await pipeline(createReadStream(plain), createGzip({ level: 1 }), createWriteStream(`${plain}.gz`));
  const rows = [];
  for (const [name, rules, variant] of RUNS) {
    const found = await measured(variant === 'gz' ? `${plain}.gz` : plain, rules, variant === 'against');
    if (found.requests !== LINES) throw new Error(`${name}: ${found.requests} of ${LINES} requests`);
    const perSecond = Math.round(LINES / found.seconds / 1_000);
    rows.push([name, found.seconds.toFixed(1), found.cpu.toFixed(1), `${perSecond}`, `${found.megabytes}`]);
  }
  const heads = ['seconds', 'CPU, s', 'thousand lines/s', 'peak memory, MB'];
  const [{ model }] = cpus();
  const text = `${cpus().length} cores (${model}), Node ${process.versions.node}.\n\n${table(`${LINES.toLocaleString('en')} lines`, heads, rows)}`;
  console.log(text);
  if (write) writeSection('simulate', text);
} finally {
  rmSync(folder, { recursive: true });
}

/** A process of its own for each run, so that its memory is its own. */
async function measured(file, rules, against) {
  const child = spawn(process.execPath, [CHILD, file, rules, String(against)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((ended) => child.once('close', ended));
  if (code !== 0) throw new Error(`${rules}: the run failed`);
  return JSON.parse(output);
}
