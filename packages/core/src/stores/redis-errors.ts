import {
  type ConfigurationReason,
  StoreConfigurationError,
  StoreUnavailableError,
  type UnavailableReason,
} from '../errors.js';

/** There was none when it was needed: why, the client's last error tells. */
export class NoConnectionError extends Error {}

/** Server answers that say "not now": the next call may find it well again. */
const UNAVAILABLE =
  /^(?:\w+: )?(LOADING|BUSY|OOM|MISCONF|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|UNBLOCKED)\b/;
/** Server answers that say "never like this". */
const CONFIGURATION = /\b(WRONGTYPE|NOPERM|WRONGPASS|NOAUTH|DENIED|SLUICE)\b|unknown command|ERR /;

/** Answers of a Redis Cluster to a client that does not know it as one: what to do, as the server does not say. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:\w+: )?CROSSSLOT\b/,
    'a Redis Cluster decides together only what lies in one slot: give all limiters of a CombinedLimiter the same hashTag, ' +
      'and redisStore a Cluster client, with which this is told at construction',
  ],
  [
    /^(?:\w+: )?(?:MOVED|ASK) \d/,
    'this server is one node of a Redis Cluster: give redisStore a Cluster client, new Cluster([…]) of ioredis',
  ],
];

/** Some frameworks send the messages of errors to clients, who must not read keys: the server's own words are in `cause`. */
const FOREIGN = /\bSLUICE foreign value\b/;

const TOLD: readonly string[] = [
  'WRONGTYPE',
  'NOPERM',
  'WRONGPASS',
  'NOAUTH',
] satisfies ConfigurationReason[];

/**
 * Gives a client's error a class, a code and a reason of ours; the client's own error is its `cause`. This is the one place that knows
 * what is "not now" (a failure policy decides) and what is "never like this" (it does not).
 */
export function classified(
  error: unknown,
  lastConnectionError?: Error,
): StoreUnavailableError | StoreConfigurationError {
  const told = error instanceof NoConnectionError && lastConnectionError ? lastConnectionError : error;
  const text = String(told instanceof Error ? `${told.name}: ${told.message}` : told);
  const remedy = REMEDIES.find(([answer]) => answer.test(text))?.[1];
  const unavailable = UNAVAILABLE.exec(text)?.[1];
  const configuration = unavailable === undefined ? CONFIGURATION.exec(text) : null;
  if (remedy !== undefined || configuration !== null) {
    let message = messageOf(told);
    if (remedy !== undefined) message = `${remedy} (${message})`;
    if (FOREIGN.test(text)) message = 'a key of this limit holds a foreign value; `cause` names it';
    const word = configuration?.[1] ?? '';
    const reason = TOLD.includes(word) ? (word as ConfigurationReason) : 'other';
    return new StoreConfigurationError(`redis store: ${message}`, { cause: told, reason });
  }
  const why = lastConnectionError === undefined ? '' : ` (${messageOf(lastConnectionError)})`;
  return new StoreUnavailableError(`redis store: ${messageOf(error)}${why}`, {
    cause: lastConnectionError ?? error,
    reason: reasonOf(unavailable, text),
  });
}

function reasonOf(word: string | undefined, text: string): UnavailableReason {
  if (word !== undefined && word !== 'UNBLOCKED') return word as UnavailableReason;
  return /time(?:d )?.?out/i.test(text) ? 'timeout' : 'connection';
}

/** Connection errors of several addresses arrive as an AggregateError with an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
