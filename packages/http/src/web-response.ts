import { answerError, type Reply } from './reply.js';
import type { ResponseView } from './views.js';

/** Headers in small letters, as pairs. A `Headers` takes several times as long to write and to read. */
export type PendingHeaders = ReadonlyMap<string, string>;

/** Collects the headers of a web-standard request's limits until there is a response. */
export class PendingResponse implements ResponseView {
  readonly headers = new Map<string, string>();
  status = 0;
  readonly #listeners = new Set<(complete: boolean) => void>();
  #complete: boolean | undefined;

  /** @param signal aborts when the client disconnects */
  constructor(signal?: AbortSignal) {
    if (signal?.aborted) this.over(0, false);
    else signal?.addEventListener('abort', () => this.over(0, false), { once: true });
  }

  get sent(): boolean {
    return false;
  }

  protected get isOver(): boolean {
    return this.#complete !== undefined;
  }

  get(name: string): string | undefined {
    return this.headers.get(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.headers.set(name.toLowerCase(), value);
  }

  append(name: string, items: string): void {
    const before = this.get(name);
    this.set(name, before === undefined ? items : `${before}, ${items}`);
  }

  whenOver(listener: (complete: boolean) => void): void {
    if (this.#complete === undefined) this.#listeners.add(listener);
    else listener(this.#complete);
  }

  endBegun(): void {} // such a response cannot have started yet

  /** Only the first call counts: a response, or the client's disconnection. */
  over(status: number, complete: boolean): void {
    if (this.isOver) return;
    this.status = status;
    this.#complete = complete;
    for (const listener of this.#listeners) listener(complete);
  }
}

/**
 * The response with more headers, which replace its own; itself if it has them. An upgrade (101) and `Response.error()` (0) cannot be copied: they
 * stay as they are.
 */
export function withHeaders(response: Response, more: PendingHeaders): Response {
  // Only the status and the headers: to read other fields makes servers on Node.js build a real response, which takes longer than all else.
  if (response.status < 200 || hasHeaders(response, more)) return response;
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of more) headers.set(name, value);
  return new Response(body, { status, statusText, headers });
}

function hasHeaders({ headers }: Response, more: PendingHeaders): boolean {
  for (const [name, value] of more) if (headers.get(name) !== value) return false;
  return true;
}

export function webResponseOf({ status, type, body }: Reply, written: PendingHeaders): Response {
  return new Response(body, { status, headers: { ...Object.fromEntries(written), 'content-type': type } });
}

/**
 * The response to one of Sluice's errors; `undefined` for other errors.
 * @param written the headers of the limits that the request has passed
 */
export function webErrorResponse(
  error: unknown,
  accept: string | undefined,
  written: PendingResponse = new PendingResponse(),
): Response | undefined {
  const reply = answerError(error, accept, written);
  return reply && webResponseOf(reply, written.headers);
}
