import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { run } from '../run.ts';
import { unpackDebianRedis } from './debian-redis.ts';
import { withLock } from './lock.ts';

export interface RedisBinary {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  /** The image to run, when `command` is docker. */
  readonly image?: string;
}

const NAMES = ['redis-server', 'valkey-server'];
const IMAGE = 'redis:7-alpine';
const CACHE = resolve(__dirname, '../../../node_modules/.cache/sluice-redis');
const ROOT = join(CACHE, 'root');

let found: Promise<RedisBinary> | undefined;

/**
 * Finds a Redis server, or obtains one: SLUICE_TEST_REDIS_SERVER, PATH, our cache, apt, Docker.
 * @throws Error when there is none, with what to install
 */
export function redisBinary(): Promise<RedisBinary> {
  found ??= find();
  return found;
}

/**
 * For servers that must reach each other, or files of ours: from within Docker they do not.
 * @param what they are
 * @throws Error when Docker is all there is
 */
export async function localRedisBinary(what: string): Promise<RedisBinary> {
  const binary = await redisBinary();
  if (binary.image === undefined) return binary;
  throw new Error(`${what} needs redis-server or valkey-server on this machine: Docker will not do`);
}

async function find(): Promise<RedisBinary> {
  const named = process.env.SLUICE_TEST_REDIS_SERVER;
  if (named !== undefined && named !== '') {
    if (await works({ command: named, env: {} })) return { command: named, env: {} };
    throw new Error(`SLUICE_TEST_REDIS_SERVER is ${named}, which does not run as a Redis server`);
  }
  for (const command of NAMES) {
    if (await works({ command, env: {} })) return { command, env: {} };
  }
  return (await cached()) ?? (await obtain());
}

async function works({ command, env }: RedisBinary): Promise<boolean> {
  return (await run(command, ['--version'], { env })).ok;
}

async function cached(root = ROOT): Promise<RedisBinary | undefined> {
  const command = NAMES.map((name) => join(root, 'usr/bin', name)).find((path) => existsSync(path));
  if (command === undefined) return undefined;
  const binary = { command, env: { LD_LIBRARY_PATH: libraryFolders(root).join(':') } };
  return (await works(binary)) ? binary : undefined;
}

function libraryFolders(root: string): string[] {
  return ['usr/lib', 'lib'].flatMap((lib) => {
    const folder = join(root, lib);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => (name.includes('-linux-') ? [join(folder, name)] : []));
  });
}

async function obtain(): Promise<RedisBinary> {
  await mkdir(CACHE, { recursive: true });
  return withLock(join(CACHE, 'lock'), async () => {
    const already = await cached(); // by the process that held the lock before us
    if (already !== undefined) return already;
    const scratch = await mkdtemp(join(CACHE, 'scratch-'));
    try {
      const reason = await unpackDebianRedis(scratch, join(scratch, 'root'));
      const binary = reason === undefined ? await putInPlace(join(scratch, 'root')) : undefined;
      return binary ?? (await fromDocker(reason ?? 'the Debian package does not run on this machine'));
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
}

async function putInPlace(root: string): Promise<RedisBinary | undefined> {
  if ((await cached(root)) === undefined) return undefined;
  await rm(ROOT, { recursive: true, force: true }); // what was there does not run
  // Fails only when another process was quicker, and then what it put there serves as well.
  await rename(root, ROOT).catch(() => undefined);
  return cached();
}

async function fromDocker(reason: string): Promise<RedisBinary> {
  if ((await run('docker', ['info'], { timeoutMs: 10_000 })).ok) {
    return { command: 'docker', env: {}, image: IMAGE };
  }
  throw new Error(
    `The tests need a real Redis: install redis-server (or valkey-server), or start Docker, or set REDIS_URL and SLUICE_TEST_REDIS_SERVER (${reason}).`,
  );
}
