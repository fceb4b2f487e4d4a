import { type Advice, NamedPartsView, type Proxies, pathOf, routerPathOf, writtenPathOf } from '@sluice/http';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The option `trustProxy` of each server, which Fastify does not publish. */
const trusted = new WeakMap<FastifyInstance, Proxies>();

/** Versions whose `initialConfig` omits `caseSensitive`. Ignoring case is the safe answer: no spelling has its own count. */
const HIDES_CASE = /^5\.[56]\./;

const ADVICE: Advice = { body: "In Fastify use hook: 'preValidation' or 'preHandler'" };

export class FastifyRequestView extends NamedPartsView<FastifyRequest> {
  get path(): string {
    return this.#read(pathOf);
  }

  get writtenPath(): string | undefined {
    return this.#read(writtenPathOf);
  }

  #read<Path>(read: (url: string, caseSensitive: boolean) => Path): Path {
    const { url, server } = this.request;
    return routerPathOf(read, url, server.initialConfig, !HIDES_CASE.test(server.version));
  }

  /** All 404s share one count. */
  get route(): string | undefined {
    return this.request.is404 ? '(none)' : this.request.routeOptions.url;
  }

  /** Fastify parses no body of these methods, so none is missing. */
  get bodyParsed(): boolean | undefined {
    return this.request.method === 'GET' || this.request.method === 'HEAD' || undefined;
  }

  get advice(): Advice {
    return ADVICE;
  }

  get proxies(): Proxies {
    const { server } = this.request;
    let proxies = trusted.get(server);
    if (proxies === undefined) {
      proxies = this.request.ips === undefined ? 'none' : trustsAll(server) ? 'all' : 'some';
      trusted.set(server, proxies);
    }
    return proxies;
  }
}

/** Reads `trustProxy` among Fastify's private options; if they cannot be found, there is no warning. */
function trustsAll(server: FastifyInstance): boolean {
  for (let level: object | null = server; level !== null; level = Object.getPrototypeOf(level)) {
    const options = Object.getOwnPropertySymbols(level).find(
      ({ description }) => description === 'fastify.options',
    );
    if (options !== undefined) {
      return (level as Record<symbol, { trustProxy?: unknown } | undefined>)[options]?.trustProxy === true;
    }
  }
  return false;
}
