import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../tests/support/redis/free-port.js';

/**
 * Runs `npm start` while `use` runs.
 * @param store where it counts, as its `STORE` says
 */
export async function withDemo(
  root: string,
  store: string,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const demo = spawn(process.execPath, [join(root, 'scripts/start.mjs'), 'starter'], {
    env: { ...process.env, PORT: `${port}`, STORE: store },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(demo, 'exit');
  try {
    await Promise.race([
      once(demo.stdout, 'data'),
      ended.then(() => Promise.reject(new Error('The demo ended before it listened'))),
    ]);
    await use(`http://127.0.0.1:${port}`);
  } finally {
    demo.kill();
    await ended;
  }
}
