import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';

/**
 * Where temporary files lie in memory, if the machine has such a place; else where all temporary files lie. For SQLite's files: a disk takes
 * milliseconds to make each of them safe, which no test of a store notices.
 */
export function fastFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
