import type { LimiterKey } from '@sluice/core';
import { getOrCreate, setImmediate, warnOnce } from '@sluice/core/internal';
import { hasBackground } from '#platform';

/** The limits of one name that have no shared store. */
interface Siblings {
  /** How many limits began with a request of this key. */
  readonly fresh: Map<string, number>;
  /** Has a limit of this name decided a second request? */
  kept: boolean;
}

/** New limits for one key before the warning. Tests and first calls create one or two. */
const SUSPICIOUS = 3;
/** Names and keys may come from requests, and must not fill the memory. */
const MOST_NAMES = 100;
const MOST_KEYS = 1000;

const siblings = new Map<string, Siblings>();

let turn = 0;
let counting = false;

/** A number that changes with each tick of the event loop. */
function currentTurn(): number {
  if (!counting) {
    counting = true;
    setImmediate(() => {
      counting = false;
      turn += 1;
    }).unref();
  }
  return turn;
}

/**
 * Finds limits that are created in a request handler: each instance is new, so it never denies. Such a limit decides only one
 * request, in the tick of the event loop in which it was created.
 * @returns a check to run for each request of this limit; it returns true once later requests can tell no more
 */
export function limitsMadePerRequest(
  where: string,
  limiterName: string,
): (keys: readonly LimiterKey[]) => boolean {
  if (!hasBackground) return () => true;
  const made = currentTurn();
  const name = `${where} ${limiterName}`;
  let requests = 0;
  return (keys) => {
    requests += 1;
    if (requests === 1 && currentTurn() !== made) return true;
    if (!siblings.has(name) && siblings.size >= MOST_NAMES) return true;
    const others = getOrCreate(siblings, name, (): Siblings => ({ fresh: new Map(), kept: false }));
    if (others.kept) return true;
    if (requests > 1) {
      others.kept = true;
      others.fresh.clear();
      return true;
    }
    const key = keys.filter((one) => typeof one === 'string' || typeof one === 'number').join(' ');
    const fresh = (others.fresh.get(key) ?? 0) + 1;
    if (fresh < SUSPICIOUS) {
      if (others.fresh.size < MOST_KEYS) others.fresh.set(key, fresh);
      return false;
    }
    warnOnce(
      'SLUICE_LIMIT_PER_REQUEST',
      limiterName,
      `${where}: limit '${limiterName}' was created ${fresh} times, for one request of the same client each. Each instance counts by itself, so it ` +
        'never denies. Create the limit once, outside the request handler',
    );
    return true;
  };
}
