import bundled from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { run } from './run.js';

/** A real browser without set-up: the machine's own, or the one for Linux that comes as an npm package. */
export async function startBrowser(): Promise<Browser> {
  for (const name of ['chromium', 'google-chrome']) {
    const { ok, output } = await run('which', [name]);
    if (ok) return chromium.launch({ executablePath: output.trim() });
  }
  if (process.platform !== 'linux') {
    throw new Error('These tests need chromium or google-chrome on the PATH, except on Linux');
  }
  // In a single process the browser would end with its first window.
  const args = bundled.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote');
  return chromium.launch({ executablePath: await bundled.executablePath(), args });
}
