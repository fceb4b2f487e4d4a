import type { LimiterKey } from '../keys/key-part.js';
import { warnOnce } from '../warnings.js';

/** What is known of all limits of one name that count in a memory of their own. */
interface Siblings {
  /** Requests of each key that got a limit made for them alone. */
  readonly fresh: Map<string, number>;
  /** One of them has decided a second request, so they are kept. */
  kept: boolean;
}

/** So many requests of one key, each decided by a new limit, are no accident: tests and first calls make one or two. */
const SUSPICIOUS = 3;
/** Names may come from requests, and keys do: neither may fill the memory. */
const MOST_NAMES = 100;
const MOST_KEYS = 1000;

const siblings = new Map<string, Siblings>();

/** As it is when this is loaded: tests put another in its place. */
const { setImmediate } = globalThis;
let turn = 0;
let counting = false;

/** Differs from one turn of the event loop to the next. */
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
 * Looks whether limits are made in a request handler: each is new, so none ever denies. Such a limit decides one request, in the turn of the
 * event loop in which it was made, and no other.
 * @returns looks at a request of this limit; false when there is nothing more to find out
 */
export function limitsMadePerRequest(
  where: string,
  limiterName: string,
): (keys: readonly LimiterKey[]) => boolean {
  const made = currentTurn();
  const name = `${where} ${limiterName}`;
  let requests = 0;
  return (keys) => {
    requests += 1;
    if (requests === 1 && currentTurn() !== made) return false;
    const others = siblingsOf(name);
    if (others === undefined || others.kept) return false;
    if (requests > 1) {
      others.kept = true;
      others.fresh.clear();
      return false;
    }
    const key = keys.filter(isPlain).join(' ');
    const fresh = (others.fresh.get(key) ?? 0) + 1;
    if (fresh < SUSPICIOUS) {
      if (others.fresh.size < MOST_KEYS) others.fresh.set(key, fresh);
      return true;
    }
    warnOnce(
      'SLUICE_LIMIT_PER_REQUEST',
      limiterName,
      `${where}: limit '${limiterName}' was made anew for each of ${fresh} requests of one client. Each counts for itself, so none ` +
        'denies. Make it once, outside of the request handler',
    );
    return false;
  };
}

const isPlain = (key: LimiterKey) => typeof key === 'string' || typeof key === 'number';

function siblingsOf(name: string): Siblings | undefined {
  const known = siblings.get(name);
  if (known !== undefined || siblings.size >= MOST_NAMES) return known;
  const made: Siblings = { fresh: new Map(), kept: false };
  siblings.set(name, made);
  return made;
}
