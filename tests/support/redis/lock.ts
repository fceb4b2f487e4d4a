import { existsSync } from 'node:fs';
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const HEARTBEAT_MS = 1_000;
const STALE_MS = 8_000;

/**
 * Runs `task` while it holds `folder` as a lock between processes. If a holder crashes, its heartbeat stops, and another process takes
 * the lock 8 s later. In a rare race two processes may hold it: `task` must `publish` its result, so that the race only costs time.
 */
export async function withLock<T>(folder: string, task: () => Promise<T>): Promise<T> {
  while (!(await tryLock(folder))) {
    if (await isStale(folder)) await discard(folder);
    else await sleep(100);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(folder, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await task();
  } finally {
    clearInterval(heartbeat);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives a finished folder its name, unless another process was faster: then that one's folder stays. */
export async function publish(finished: string, folder: string): Promise<void> {
  try {
    await rename(finished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    await rm(finished, { recursive: true, force: true });
  }
}

async function tryLock(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(folder: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(folder)).mtimeMs > STALE_MS;
  } catch {
    return false; // released between the two calls
  }
}

async function discard(folder: string): Promise<void> {
  const aside = `${folder}-stale-${process.pid}`;
  await rename(folder, aside).catch(() => undefined);
  await rm(aside, { recursive: true, force: true });
}
