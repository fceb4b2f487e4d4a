// Builds the site from docs/, the pages of the algorithms and the types: website/dist.
//   node scripts/docs.mjs             builds it; fails on warnings and broken links
//   node scripts/docs.mjs dev         serves it on 127.0.0.1 and reloads on changes
//   node scripts/docs.mjs preview     serves the built site
// `dev` and `preview` take `--port 4000`.
// The packages of website/ are installed first if they are not yet, or if its package-lock.json changed.
import { spawn } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './packages.mjs';

const website = join(root, 'website');
const vitepress = join(website, 'node_modules/vitepress/bin/vitepress.js');
const local = ['--host', '127.0.0.1'];

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { port: { type: 'string' } },
  });
  const [command = 'build'] = positionals;
  if (!['build', 'dev', 'preview'].includes(command)) {
    throw new Error(`npm run docs -- takes build, dev or preview, not ${JSON.stringify(command)}`);
  }
  if (values.port !== undefined && (command === 'build' || !/^\d+$/.test(values.port))) {
    throw new Error('npm run docs -- dev and preview take --port and a number');
  }
  const serving = [...local, ...(values.port === undefined ? [] : ['--port', values.port])];
  if (!existsSync(join(root, 'node_modules/@sluice/core'))) throw new Error('Run npm install first');
  await install();
  if (command === 'preview') return run(process.execPath, [vitepress, 'preview', website, ...serving]);
  await reference();
  if (command === 'dev') return run(process.execPath, [vitepress, 'dev', website, ...serving]);
  await withoutWarnings(process.execPath, [vitepress, 'build', website]);
}

async function install() {
  const time = (file) => (existsSync(file) ? statSync(file).mtimeMs : 0);
  const installed = time(join(website, 'node_modules/.package-lock.json'));
  if (installed >= time(join(website, 'package-lock.json'))) return;
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await run(npm, ['install', '--prefix', website, '--no-audit', '--no-fund']);
}

/** One Markdown page for each public class, function and type. */
async function reference() {
  rmSync(join(website, 'reference'), { recursive: true, force: true });
  await withoutWarnings(process.execPath, [join(website, 'node_modules/typedoc/bin/typedoc')]);
}

async function withoutWarnings(command, args) {
  const output = await run(command, args);
  const warnings = output.split('\n').filter((line) => /\(!\)|\bwarn|falling back/i.test(line));
  if (warnings.length > 0) throw new Error(`The site was built with warnings:\n${warnings.join('\n')}`);
}

/** Runs a program in website/ and shows what it says. @returns what it said */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: website, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of ['stdout', 'stderr']) {
      child[stream].on('data', (chunk) => {
        output += chunk;
        process[stream].write(chunk);
      });
    }
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve(output)
        : reject(new Error(`${[command, ...args].join(' ')} failed: exit code ${code}`)),
    );
  });
}
