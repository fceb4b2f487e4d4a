import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { obtainProgram } from './debian.ts';
import { eventually } from './eventually.ts';
import { programEnv } from './program-env.ts';
import { freePort } from './redis/free-port.ts';

export interface Caddy {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Caddy on a free port of 127.0.0.1, without HTTPS: from PATH, our cache, or Debian's package. Needs no root.
 * @param site the content of its site block
 */
export async function startCaddy(site: string): Promise<Caddy> {
  const { command, env } = await obtainProgram('caddy', 'caddy', { versionFlag: 'version' });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-caddy-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n  admin off\n  auto_https off\n}\n${url} {\n  bind 127.0.0.1\n${site}\n}\n`);
  const child = spawn(command, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { ...programEnv, ...env, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill();
    await closed;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error('it ended');
      return (await fetch(url).catch(() => undefined)) !== undefined;
    });
  } catch (cause) {
    await stop();
    throw new Error(`Caddy does not answer at ${url}: ${stderr}`, { cause });
  }
  return { url, stop };
}
