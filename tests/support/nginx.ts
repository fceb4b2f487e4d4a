import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { obtainProgram } from './debian.ts';
import { programEnv } from './program-env.ts';
import { freePort } from './redis/free-port.ts';

const READY_MS = 20_000;

/** A request as nginx has logged it. */
export interface LoggedRequest {
  /** Its begin, ms since 1970. */
  readonly at: number;
  readonly status: number;
  /** Its header `X-Request`. */
  readonly request: string;
}

export interface Nginx {
  readonly url: string;
  /** Ends it once. @returns all requests, in the order of their ends */
  stop(): Promise<readonly LoggedRequest[]>;
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/**
 * Starts an nginx on a free port of 127.0.0.1: from PATH, our cache, or Debian's package. Needs no root.
 * @param http the content of its block `http`, with one `server`; `X-Forwarded-For` names the clients
 */
export async function startNginx(http: string): Promise<Nginx> {
  const { command, env } = await obtainProgram('nginx', 'nginx', { libraries: true, versionFlag: '-v' });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-nginx-'));
  const port = await freePort();
  const server = `server {
  listen 127.0.0.1:${port};
  set_real_ip_from 127.0.0.1;
  real_ip_header X-Forwarded-For;
`;
  const configuration = `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  log_format history '$msec $request_time $status $http_x_request';
  access_log ${folder}/history history;
  ${http.replace('server {', server)}
}
`;
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration);
  const child = spawn(command, ['-e', 'stderr', '-p', folder, '-c', file], {
    env: { ...programEnv, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_MS;
  while (!(await fetch(url).catch(() => undefined))) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`nginx does not answer at ${url}: ${stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const stop = async () => {
    child.kill('SIGQUIT');
    await ended;
    const history = await readFile(join(folder, 'history'), 'utf8');
    await rm(folder, { recursive: true });
    return history.split('\n').filter(Boolean).map(loggedOf);
  };
  let stopped: ReturnType<Nginx['stop']> | undefined;
  return {
    url,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

function loggedOf(line: string): LoggedRequest {
  const [end, seconds, status, request] = line.split(' ') as [string, string, string, string];
  return { at: Math.round((Number(end) - Number(seconds)) * 1000), status: Number(status), request };
}
