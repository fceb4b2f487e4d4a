import bundled from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { run } from './run.js';

/** A real browser without setup: the installed one, or the npm package for Linux. */
export async function startBrowser(): Promise<Browser> {
  for (const name of ['chromium', 'google-chrome']) {
    const { ok, output } = await run('which', [name]);
    if (ok) return chromium.launch({ executablePath: output.trim() });
  }
  if (process.platform !== 'linux') {
    throw new Error('These tests need chromium or google-chrome on the PATH, except on Linux');
  }
  // With a single process the browser would exit with its first window.
  const args = bundled.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote');
  return chromium.launch({ executablePath: await bundled.executablePath(), args });
}
