import type { RedisStore, Store } from '@sluice/core';
import type { RequestHandler, Response } from 'express';

/** The outcome of a request, as the page shows it. */
export interface DecisionRecord {
  /** Counts from 1. The page uses it to skip decisions that it already shows. */
  readonly id: number;
  /** ms since 1970. */
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  /** Only for a denial: seconds until a retry can pass. */
  readonly retryAfter: number | undefined;
}

/** Recent decisions kept for pages that open later. */
const KEPT = 50;
const HEARTBEAT_MS = 15_000;

/** Sends each decision to every open page, by server-sent events. */
export class DecisionFeed {
  readonly #listeners = new Set<Response>();
  readonly #kept: DecisionRecord[] = [];
  readonly #startedAt = Date.now();
  #made = 0;
  #decidedBy: string;

  constructor(store: Store) {
    const redis = store.name === 'redis' ? (store as RedisStore) : undefined;
    this.#decidedBy = redis === undefined ? 'the memory of this process' : 'Redis';
    redis?.on('degraded', () => this.#tellStore('this process alone, because Redis is out'));
    redis?.on('recovered', () => this.#tellStore('Redis'));
  }

  /** Middleware in front of the limited routes: reports each response when it is over. */
  readonly record: RequestHandler = (request, response, next) => {
    const { method, originalUrl: url } = request;
    response.once('finish', () => {
      const retryAfter = response.getHeader('Retry-After');
      this.#made += 1;
      const record: DecisionRecord = {
        id: this.#made,
        at: Date.now(),
        method,
        url,
        status: response.statusCode,
        retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
      };
      this.#kept.push(record);
      if (this.#kept.length > KEPT) this.#kept.shift();
      this.#send(event('decision', record));
    });
    next();
  };

  /** Answers with a stream: first the recent decisions, then new ones until the connection closes. */
  readonly stream: RequestHandler = (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(event('process', this.#startedAt) + event('store', this.#decidedBy));
    for (const record of this.#kept) response.write(event('decision', record));
    const heartbeat = setInterval(() => response.write(':\n\n'), HEARTBEAT_MS).unref();
    this.#listeners.add(response);
    response.once('close', () => {
      clearInterval(heartbeat);
      this.#listeners.delete(response);
    });
  };

  #tellStore(decidedBy: string): void {
    this.#decidedBy = decidedBy;
    this.#send(event('store', decidedBy));
  }

  #send(text: string): void {
    for (const listener of this.#listeners) listener.write(text);
  }
}

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
