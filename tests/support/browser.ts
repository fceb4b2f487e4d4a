import bundled from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { run } from './run.js';

/** Arguments of the package that these tests do without. */
const UNWANTED = [
  // No user's browser has them. With a single process it would exit with its first window; without web security it would send no `Origin`.
  '--single-process',
  '--no-zygote',
  '--disable-web-security',
  '--allow-running-insecure-content',
  // OpenGL in software takes three times the processor time of drawing without OpenGL.
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];
const WITHOUT_OPENGL = '--disable-gpu';

/** A real browser without setup: the installed one, or the npm package for Linux. */
export async function startBrowser(): Promise<Browser> {
  for (const name of ['chromium', 'google-chrome']) {
    const { ok, output } = await run('which', [name]);
    if (ok) return chromium.launch({ executablePath: output.trim(), args: [WITHOUT_OPENGL] });
  }
  if (process.platform !== 'linux') {
    throw new Error('These tests need chromium or google-chrome on the PATH, except on Linux');
  }
  const args = [...bundled.args.filter((arg) => !UNWANTED.includes(arg)), WITHOUT_OPENGL];
  return chromium.launch({ executablePath: await bundled.executablePath(), args });
}
