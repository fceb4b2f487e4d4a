import type { UsageOptions } from '@sluice/core';
import { checkBoolean, checkOptions, describe } from '@sluice/core/internal';

/** Sends a request: the part of `fetch` that the store uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface UpstashStoreOptions {
  /** The address of the REST API: `https://….upstash.io`. Default: UPSTASH_REDIS_REST_URL of the environment. */
  readonly url?: string | undefined;
  /** Its token, not the read-only one. Default: UPSTASH_REDIS_REST_TOKEN of the environment. */
  readonly token?: string | undefined;
  /** Sends the requests, for tests and instrumentation. Default: the runtime's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /**
   * Called with each request that is on its way: a promise that never rejects. Platforms that end an instance with its response keep it until
   * then, so that refunds after the response arrive: `waitUntil` of `cloudflare:workers`, of `@vercel/functions`, or `after` of `next/server`.
   */
  readonly waitUntil?: ((request: Promise<void>) => void) | undefined;
  /**
   * Publish the limiters of this process, so that the command `sluice` knows them by name? Default `false`: it costs a few commands each
   * minute. Needs code that runs between requests.
   */
  readonly definitions?: boolean | undefined;
  /** As for `redisStore`: counts the keys that were denied most, and that took most. Default `false`. */
  readonly usage?: boolean | UsageOptions | undefined;
  /**
   * As for `redisStore`: sends denials to `sluice tail` and the live page, whose own connection must be one of Redis. Default `false`: it costs
   * commands every two to ten seconds. Needs `definitions`.
   */
  readonly denials?: boolean | undefined;
}

/** Where and how requests are sent. */
export interface RestOptions {
  /** Without a `/` at its end. */
  readonly url: string;
  readonly token: string;
  readonly fetch: Fetch;
  readonly waitUntil: ((request: Promise<void>) => void) | undefined;
}

const OPTIONS = ['url', 'token', 'fetch', 'waitUntil', 'definitions', 'usage', 'denials'];
const URL_NAME = 'UPSTASH_REDIS_REST_URL';
const TOKEN_NAME = 'UPSTASH_REDIS_REST_TOKEN';

/** @throws TypeError */
export function readOptions(options: UpstashStoreOptions) {
  checkOptions('upstashStore', options, OPTIONS);
  const { waitUntil, definitions = false, usage, denials = false } = options;
  checkBoolean('upstashStore: definitions', definitions);
  checkBoolean('upstashStore: denials', denials);
  // Looked up at each request: instrumentation may replace it.
  const { fetch = (url: string, init: RequestInit) => globalThis.fetch(url, init) } = options;
  checkFunction('fetch', fetch);
  if (waitUntil !== undefined) checkFunction('waitUntil', waitUntil);
  const url = checkUrl(options.url ?? ofEnvironment(URL_NAME, 'url'));
  const token = checkToken(options.token ?? ofEnvironment(TOKEN_NAME, 'token'));
  const rest: RestOptions = { url, token, fetch, waitUntil };
  return { rest, definitions, usage, denials };
}

const wrong = (message: string): TypeError => new TypeError(`upstashStore: ${message}`);

function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw wrong(`${name} must be a function, not ${describe(value)}`);
}

/** Some edge runtimes have no environment: there, a request brings it. */
function ofEnvironment(name: string, option: string): string {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const value = process?.env?.[name];
  if (value) return value;
  throw wrong(
    `${name} is not set in the environment: set it to what the console of Upstash shows, or pass ${option}. ` +
      `In a Worker pass env.${name}`,
  );
}

const LOCAL = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;

/** Errors do not repeat the address: some have the token in it. */
function checkUrl(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url))
    throw wrong(`url must be the address of the REST API, 'https://….upstash.io', not ${typeOf(url)}`);
  const { protocol, hostname, username, password, search, hash } = new URL(url);
  if (/^rediss?:$/.test(protocol))
    throw wrong(
      `url is an address of Redis (${protocol}//): pass the one of the REST API, 'https://….upstash.io', or use redisStore`,
    );
  if (protocol !== 'https:' && !(protocol === 'http:' && LOCAL.test(hostname)))
    throw wrong(`url must begin with https:// (http:// only for 127.0.0.1), not with ${protocol}//`);
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    throw wrong('url must be the address alone: pass the token as token');
  return url.replace(/\/+$/, '');
}

/** The characters that a header takes: errors of `fetch` for others would show the token. */
function checkToken(token: unknown): string {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
  throw wrong(
    `token must be the token of the REST API, letters and digits without spaces, not ${typeOf(token)}`,
  );
}

/** Never the text itself. */
const typeOf = (value: unknown): string =>
  value === '' ? 'an empty text' : typeof value === 'string' ? 'another text' : describe(value);
