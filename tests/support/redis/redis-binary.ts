import { type DebianProgram, debianProgram, works } from '../debian.ts';
import { run } from '../run.ts';

export interface RedisBinary extends DebianProgram {
  /** The image to run, when `command` is docker. */
  readonly image?: string;
}

const NAMES = ['redis-server', 'valkey-server'];
const IMAGE = 'redis:7-alpine';
const DEBIAN = { cache: 'sluice-redis', packages: NAMES, libraries: true, programs: NAMES };

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
 * Finds a Redis server outside Docker, for servers that must reach each other or our files.
 * @param what the kind of servers, for the error
 * @throws Error if there is only Docker
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
  const obtained = await debianProgram(DEBIAN);
  return typeof obtained === 'string' ? fromDocker(obtained) : obtained;
}

async function fromDocker(reason: string): Promise<RedisBinary> {
  if ((await run('docker', ['info'], { timeoutMs: 10_000 })).ok) {
    return { command: 'docker', env: {}, image: IMAGE };
  }
  throw new Error(
    `The tests need a real Redis: install redis-server (or valkey-server), or start Docker, or set REDIS_URL and SLUICE_TEST_REDIS_SERVER (${reason}).`,
  );
}
