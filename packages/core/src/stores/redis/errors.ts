import { isNativeError } from '#platform';
import {
  type ConfigurationReason,
  isStoreConfigurationError,
  isStoreUnavailableError,
  StoreConfigurationError,
  StoreUnavailableError,
  type UnavailableReason,
} from '../../errors.js';
import { isStoreRefusal } from '../../store-refusal.js';

/** There is no connection. The cause is the client's last error. */
export class NoConnectionError extends Error {}

/** The function that makes a store: its errors begin with it. */
const MAKER = 'redisStore';

/** The error of calls after `close`, and of those that `close` has waited for too long. */
export const storeClosed = (maker = MAKER, neverSent = true): StoreUnavailableError =>
  new StoreUnavailableError(`${maker}: it was closed`, { reason: 'closed', neverSent });

/** The error of a call that took too long. @param what did not happen: `not connected`, `no answer` */
export const tooLate = (what: string, ms: number, cause?: Error, maker = MAKER): StoreUnavailableError =>
  new StoreUnavailableError(
    `${maker}: ${what} within ${ms} ms${cause === undefined ? '' : ` (${messageOf(cause)})`}`,
    { reason: cause === undefined ? 'timeout' : 'connection', late: true, cause },
  );

/** What an error means: the store is unavailable, or set up wrongly. */
type Meaning =
  | { readonly unavailable: UnavailableReason; readonly remedy?: string }
  | {
      readonly configuration: ConfigurationReason;
      readonly remedy?: string;
      /** Replaces the server's message, which names keys: some frameworks send messages to clients. `cause` has it. */
      readonly instead?: string;
    };

/** Before Redis 7 an error in a script arrives wrapped; clients prepend a class name, or append the last of several errors. */
const START = /^(?:.*Last error: )?(?:\w*Error: )?(?:ERR Error running script.*?: -?)?/.source;
const word = (words: string): RegExp => new RegExp(`${START}(${words})\\b`);
const phrase = (words: string): RegExp => new RegExp(`${START}(?:${words})`);

const CONNECTION: Meaning = { unavailable: 'connection' };
const wrong = (configuration: ConfigurationReason): Meaning => ({ configuration });
const fixedBy = (remedy: string): Meaning => ({ configuration: 'other', remedy });
const LOGIN =
  'the server refuses the login: give redisStore or your client the user and the password that the server takes now';
/** Unavailable, for the reason that the matched word names. */
const BY_WORD = 'by word';

/** The first matching row counts. Without a match the network failed. */
const ROWS: readonly (readonly [message: RegExp, meaning: Meaning | typeof BY_WORD])[] = [
  // Errors of our own scripts.
  [
    /\bSLUICE foreign value\b/,
    { configuration: 'other', instead: 'a key of this limit holds a foreign value; `cause` names it' },
  ],
  [/\bSLUICE\b/, wrong('other')],
  [word('LOADING|BUSY|OOM|MISCONF|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN'), BY_WORD],
  [/Script killed by user/, { unavailable: 'BUSY' }],
  [word('UNBLOCKED'), CONNECTION], // the server became a replica
  // The nodes of a cluster do not agree yet.
  [/^Too many Cluster redirections.*\b(?:MOVED|ASK) \d/, CONNECTION],
  // The server is full, or limits its users.
  [phrase('ERR max (?:number of clients|(?:\\w+ )*requests? limit)'), CONNECTION],
  [phrase('ERR DB capacity quota exceeded'), { unavailable: 'OOM' }],
  [
    word('CROSSSLOT'),
    fixedBy(
      'a Redis Cluster decides together only keys of one slot: give all limiters of a CombinedLimiter the same hashTag, ' +
        'and redisStore a Cluster client, with which this error is thrown at construction',
    ),
  ],
  [
    phrase('(?:MOVED|ASK) \\d'),
    fixedBy(
      'this server is one node of a Redis Cluster: give redisStore a Cluster client, new Cluster([…]) of ioredis',
    ),
  ],
  [
    phrase('ERR This instance has cluster support disabled'),
    fixedBy(
      'this server is no node of a Redis Cluster: give redisStore its address or a client for one server',
    ),
  ],
  [
    phrase('ERR (?:DB index is out of range|invalid DB index)'),
    fixedBy('the server has no such database: give redisStore one that it has, such as 0'),
  ],
  [word('WRONGTYPE'), wrong('WRONGTYPE')],
  [
    /\bNOPERM\b|ACL failure in script|ERR The user executing the script can't/,
    {
      unavailable: 'NOPERM',
      remedy: 'the server refuses a right: give the user the rights that sluice doctor names',
    },
  ],
  [/\bWRONGPASS\b|ERR invalid password/, { unavailable: 'WRONGPASS', remedy: LOGIN }],
  [/\bNOAUTH\b/, { unavailable: 'NOAUTH', remedy: LOGIN }],
  [/\bDENIED\b|unknown command|\bERR /, wrong('other')],
  // The timeout of one call. A timeout of the connection breaks it, and all its calls with it.
  [/command timed? ?out/i, { unavailable: 'timeout' }],
];

/**
 * Turns a client's error into one of ours with a class, a code and a reason; `cause` is the client's error. Only this function decides
 * whether a store is unavailable, so that the failure policy decides, or set up wrongly, so that the call rejects.
 *
 * A TLS failure counts as unavailable: certificates expire and are replaced while programs run, which must not take services down.
 */
export function classified(
  error: unknown,
  lastConnectionError?: Error,
  neverSent = false,
  maker = MAKER,
): StoreUnavailableError | StoreConfigurationError {
  if (isStoreUnavailableError(error) || isStoreConfigurationError(error)) return error;
  const cause = error instanceof NoConnectionError && lastConnectionError ? lastConnectionError : error;
  const meaning = meaningOf(cause);
  const { remedy } = meaning;
  if ('configuration' in meaning) {
    const { configuration: reason, instead = messageOf(cause) } = meaning;
    return new StoreConfigurationError(`${maker}: ${withRemedy(instead, remedy)}`, { cause, reason });
  }
  const why = lastConnectionError === undefined ? '' : ` (${messageOf(lastConnectionError)})`;
  const message = remedy === undefined ? `${messageOf(error)}${why}` : withRemedy(messageOf(cause), remedy);
  return new StoreUnavailableError(`${maker}: ${message}`, {
    cause: lastConnectionError ?? error,
    reason: meaning.unavailable,
    late: meaning.unavailable === 'timeout',
    neverSent,
  });
}

const withRemedy = (message: string, remedy: string | undefined): string =>
  remedy === undefined ? message : `${remedy} (${message})`;

/** Does the error mean that the store is set up wrongly, or that a login or a right is missing? */
export const isMistake = (error: unknown): boolean => isStoreRefusal(classified(error));

/**
 * The host is unreachable, unknown or untrusted. `EAI_AGAIN` is not listed: the name server may answer next time. `Connection is closed` is
 * all that ioredis tells when it could not connect to any node of a cluster, or to any sentinel.
 */
const REFUSED =
  /\b(?:ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENOENT|EACCES|EPERM|Connection is closed)\b/;
const UNTRUSTED = /^(?:ERR_(?:TLS|SSL)_|CERT_|UNABLE_TO_|DEPTH_ZERO_)|SELF_SIGNED/;

/** Would the next connection attempt fail with the same error? */
export function isRefusal(error: unknown): boolean {
  const meaning = meaningOf(error);
  if ('configuration' in meaning) return true;
  // An error reply would come again. A lost connection or a timeout may not.
  if (meaning.unavailable !== 'connection' && meaning.unavailable !== 'timeout') return true;
  if (UNTRUSTED.test(String((error as { code?: unknown } | undefined)?.code))) return true;
  return [...textsOf(error)].some((text) => REFUSED.test(text));
}

/** Is it the reply to the SELECT with which ioredis opens a connection? */
export const isSelectError = (error: unknown): boolean =>
  (error as { command?: { name?: unknown } } | undefined)?.command?.name === 'select';

/** Was the connection destroyed because it was silent? */
export const isSocketTimeout = (error: unknown): boolean => /^Socket timeout/.test(messageOf(error));

function meaningOf(error: unknown): Meaning {
  for (const text of textsOf(error)) {
    for (const [message, meaning] of ROWS) {
      const found = message.exec(text);
      if (found !== null)
        return meaning === BY_WORD ? { unavailable: found[1] as UnavailableReason } : meaning;
    }
  }
  return CONNECTION;
}

/** Errors of several addresses arrive as an AggregateError without a message; those of cluster nodes as `lastNodeError`. */
type ErrorOfSeveral = Error & { errors?: unknown; lastNodeError?: unknown };

/** The messages of an error and of its inner errors. The depth is limited: an error may be its own cause. */
function* textsOf(error: unknown, depth = 0): Generator<string> {
  if (!isError(error)) {
    yield String(error);
    return;
  }
  yield error.message;
  const { errors, lastNodeError, cause } = error as ErrorOfSeveral;
  const inner = [...(Array.isArray(errors) ? errors : []), lastNodeError, cause];
  for (const one of inner) if (isError(one) && depth < 3) yield* textsOf(one, depth + 1);
}

/** The message of ioredis for a lost connection advises against settings of the store, so it is replaced. */
const LOST = /^(?:Reached the max retries per request limit|Stream isn't writeable and enableOfflineQueue)/;

function messageOf(error: unknown): string {
  if (!isError(error)) return String(error);
  if (LOST.test(error.message)) return 'the connection was lost';
  const { errors, lastNodeError } = error as ErrorOfSeveral;
  if (Array.isArray(errors) && error.message === '') return errors.map(messageOf).join('; ');
  return isError(lastNodeError) ? `${error.message} ${messageOf(lastNodeError)}` : error.message;
}

/** Also true for errors of another realm, such as Node's own in a test runner. */
const isError = (error: unknown): error is Error => isNativeError(error);

/** The same error without its command, which ioredis attaches: events are logged whole, and a login command has the password. */
export function withoutCommand(error: Error): Error {
  const { command, lastNodeError, ...rest } = error as ErrorOfSeveral & { command?: unknown };
  if (command === undefined && !isError(lastNodeError)) return error;
  const inner = isError(lastNodeError) && { lastNodeError: withoutCommand(lastNodeError) };
  const copy = Object.assign(new Error(error.message), rest, inner);
  for (const shown of ['name', 'stack'] as const) {
    Object.defineProperty(copy, shown, { value: error[shown], enumerable: false });
  }
  return copy;
}
