import { performance } from 'node:perf_hooks';

/** The first pause in ms before a lost connection is made again, and the longest; each has up to half of it at random. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [50, 1_000];

function retryStrategy(attempt: number): number {
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
  return Math.round(pause * (0.5 + Math.random() / 2));
}

/** ms; what was under way on a connection is answered within so long. */
const ONE_CONNECTION = 100;
const begunAnew = new WeakMap<object, number>();

/**
 * A server that takes no writes has become a replica: connecting anew finds the new primary. 1, for 2 would send the call again. Once for a
 * connection: ioredis would end it again with each answer that was under way, and listen to its end each time.
 */
function reconnectOnError(this: unknown, error: Error): 1 | false {
  if (!/^(?!SLUICE).*\bREADONLY\b/.test(error.message)) return false;
  if (typeof this !== 'object' || this === null) return 1;
  const now = performance.now();
  if (now - (begunAnew.get(this) ?? Number.NEGATIVE_INFINITY) < ONE_CONNECTION) return false;
  begunAnew.set(this, now); // the options of one client
  return 1;
}

const ofEachConnection = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 1000,
  socketTimeout: 1000,
} as const;

/**
 * Settings for a client whose calls are sent at most once and never late: nothing is kept for a server that is away, nothing is sent
 * again when a reply is lost, and what was lost is looked for again within a second. `redisStore(url)` uses them; give them to a `Redis`
 * of ioredis or iovalkey that is yours, too.
 */
export const recommendedRedisOptions = {
  enableOfflineQueue: false,
  ...ofEachConnection,
  retryStrategy,
  reconnectOnError,
} as const;

/**
 * The same for a `Cluster`. It keeps its `enableOfflineQueue`: it connects to a node at the first call for it, and would refuse the calls beside
 * that. What a node refuses while a slot moves (`TRYAGAIN`) is asked again within the usual deadline, and not after it.
 */
export const recommendedClusterOptions = {
  retryDelayOnFailover: 0,
  retryDelayOnTryAgain: 5,
  retryDelayOnClusterDown: 0,
  slotsRefreshTimeout: 500,
  slotsRefreshInterval: 5_000,
  redisOptions: ofEachConnection,
} as const;
