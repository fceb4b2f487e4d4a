// node scripts/demo-picture.mjs: draws docs/pictures/demo.png, the page of `npm start` after some requests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import bundled from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import { root } from './packages.mjs';

const port = await freePort();
const demo = spawn(process.execPath, [join(root, 'scripts/start.mjs'), 'starter'], {
  env: { ...process.env, PORT: `${port}` },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await once(demo.stdout, 'data');
  await draw(`http://127.0.0.1:${port}`);
} finally {
  demo.kill();
}

async function draw(url) {
  const args = bundled.args.filter((arg) => !['--single-process', '--no-zygote'].includes(arg));
  const browser = await chromium.launch({ executablePath: await bundled.executablePath(), args });
  try {
    const page = await browser.newPage({ viewport: { width: 1100, height: 760 } });
    await page.goto(url);
    await page.getByText('Live.').waitFor();
    for (const path of ['/limiter/count', '/limiter/rate']) {
      const burst = page.locator(`[data-path="${path}"]`).getByRole('button').last();
      await burst.click();
    }
    await page.getByText('allowed,').waitFor();
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(root, 'docs/pictures/demo.png') });
  } finally {
    await browser.close();
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
