import { type RedisClient, StoreConfigurationError } from '@sluice/core';
import { clearTimeout, hasBackground, setImmediate, setTimeout } from '@sluice/core/internal';
import { errorOf, failedExchange, foreignReply, parsed, refusedRequest } from './errors.js';
import type { RestOptions } from './upstash-store-options.js';

/** A command that waits for its reply. */
interface Sent {
  readonly command: readonly string[];
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Shortest time after which a request is given up, ms: the time limit of the first call of a store. */
const SHORTEST = 2_000;
/** A request may take three times the longest deadline: a late answer still shows that the store is not out. */
const PATIENCE = 3;
/** The longest such time, ms: a timer of more than 24 days would fire at once. */
const LONGEST = 86_400_000;

/** Sends scripts over the REST API of Upstash: the commands of one turn are one request. Each is sent at most once. */
export class RestClient implements RedisClient {
  readonly isConnectionless = true;
  /** For messages. */
  readonly options: { readonly url: string };
  readonly #rest: RestOptions;
  readonly #init: RequestInit;
  #gathered: Sent[] = [];
  /** ms until a request is given up. */
  #timeout = SHORTEST;
  readonly #underWay = new Set<AbortController>();

  constructor(rest: RestOptions) {
    this.options = { url: rest.url };
    this.#rest = rest;
    this.#init = {
      method: 'POST',
      headers: { authorization: `Bearer ${rest.token}`, 'content-type': 'application/json' },
      redirect: 'manual', // another server must not get the token
      ...uncached(rest.url),
    };
  }

  evalsha(sha1: string, keys: number, ...rest: string[]): Promise<unknown> {
    return this.#send(['EVALSHA', sha1, String(keys), ...rest]);
  }

  eval(source: string, keys: number, ...rest: string[]): Promise<unknown> {
    return this.#send(['EVAL', source, String(keys), ...rest]);
  }

  /** @throws StoreConfigurationError always */
  duplicate(): never {
    throw new StoreConfigurationError(NO_SUBSCRIPTIONS);
  }

  expect(deadline: number): void {
    this.#timeout = Math.max(this.#timeout, Math.min(LONGEST, PATIENCE * deadline));
  }

  close(): void {
    for (const request of this.#underWay) request.abort();
  }

  #send(command: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#gathered.length === 0) afterThisTurn(this.#flush);
      this.#gathered.push({ command, resolve, reject });
    });
  }

  readonly #flush = (): void => {
    const sent = this.#gathered;
    this.#gathered = [];
    const done = this.#exchange(sent);
    try {
      this.#rest.waitUntil?.(done);
    } catch {} // `after` of Next.js throws outside a request, where there is no request to extend
  };

  /** Never rejects: each command gets its reply or the error. */
  async #exchange(sent: readonly Sent[]): Promise<void> {
    const request = new AbortController();
    this.#underWay.add(request);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      request.abort();
    }, this.#timeout);
    let answer: Answer;
    try {
      const body = JSON.stringify(sent.map(({ command }) => command));
      const init = { ...this.#init, body, signal: request.signal };
      const { ok, status, text } = await read(this.#rest.fetch(`${this.#rest.url}/pipeline`, init));
      answer = ok ? repliesOf(sent.length, status, text) : { failure: refusedRequest(status, text) };
    } catch (error) {
      const { aborted } = request.signal;
      answer = { failure: failedExchange(error, late ? this.#timeout : undefined, aborted) };
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(request);
    }
    sent.forEach((one, i) => {
      if ('failure' in answer) one.reject(answer.failure);
      else settle(one, answer.replies[i]);
    });
  }
}

const NO_SUBSCRIPTIONS =
  'upstashStore: to follow other processes needs a subscription, which REST does not have: open the same database with redisStore and its ' +
  'address rediss://…';

/** Where code may not run between requests, a timer belongs to one of them: only the current code gathers. */
const afterThisTurn = (action: () => void): void => {
  if (hasBackground) setImmediate(action);
  else queueMicrotask(action);
};

/** A framework may cache what `fetch` gets. Some runtimes cache nothing, and do not know the option. */
function uncached(url: string): RequestInit {
  const option = { cache: 'no-store' } as RequestInit;
  try {
    new Request(url, option);
    return option;
  } catch {
    return {};
  }
}

type Answer = { readonly replies: readonly unknown[] } | { readonly failure: Error };

async function read(answered: Promise<Response>) {
  const response = await answered;
  return { ok: response.ok, status: response.status, text: await response.text() };
}

function repliesOf(commands: number, status: number, text: string): Answer {
  const replies = parsed(text);
  if (Array.isArray(replies) && replies.length === commands) return { replies };
  return { failure: foreignReply(status, text) };
}

function settle({ resolve, reject }: Sent, reply: unknown): void {
  const error = errorOf(reply);
  if (error === undefined) resolve((reply as { result?: unknown } | null)?.result);
  else reject(new Error(error));
}
