import { RedisStore } from '@sluice/core/internal';
import { RestClient } from './rest-client.js';
import { readOptions, type UpstashStoreOptions } from './upstash-store-options.js';

/**
 * Keeps state in an Upstash Redis, over its REST API: the Redis store of `@sluice/core`, with the same scripts and keys, whose commands travel
 * over HTTP. Works where there are no connections, such as Cloudflare Workers and the edge runtime of Next.js. Each tick of the event loop is
 * one request; where code may not run between requests, the calls of each request are sent by themselves.
 *
 * Calls that wait for a `concurrency` limit poll, because REST has no subscriptions.
 * @param options without `url` and `token`: those of UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN in the environment
 * @throws TypeError for an invalid or missing option
 */
export function upstashStore(options: UpstashStoreOptions = {}): UpstashStore {
  return new UpstashStore(options);
}

/** The store that `upstashStore` returns. `on` reports outages; `close` lets calls be answered in their time, and ends other requests. */
export class UpstashStore extends RedisStore {
  readonly #client: RestClient;

  constructor(options: UpstashStoreOptions) {
    const { rest, definitions, usage, denials } = readOptions(options);
    const client = new RestClient(rest);
    super({ client, definitions, usage, denials }, 'upstashStore');
    this.#client = client;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#client.close();
  }
}
