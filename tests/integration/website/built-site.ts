import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { withLock } from '../../support/redis/lock.js';
import { run } from '../../support/run.js';

const root = resolve(__dirname, '../../..');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** The site as `npm run docs` builds it, in its own folder, because another test run may build it at the same time. */
export async function buildSite(): Promise<string> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-site-'));
  await withLock(join(cache, 'sluice-site-lock'), async () => {
    const docs = [join(root, 'scripts/docs.mjs')];
    const { ok, output } = await run(process.execPath, docs, { cwd: root, timeoutMs: 540_000 });
    if (!ok) throw new Error(`npm run docs failed:\n${output}`);
    await cp(join(root, 'website/dist'), folder, { recursive: true });
  });
  return folder;
}

export const removeSite = (folder: string) => rm(folder, { recursive: true, force: true });

/** Serves a folder as any static host does. */
export async function serve(folder: string): Promise<{ url: string; server: Server }> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://127.0.0.1').pathname);
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    try {
      const body = await readFile(file);
      response
        .writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
        .end(body);
    } catch {
      response.writeHead(404).end(`There is no ${path}`);
    }
  });
  server.listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
