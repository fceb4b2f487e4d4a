import { NodeResponseView, type ResponseView } from '@sluice/http';
import type { Context } from 'hono';
import { nodeOf } from './request.js';

/** All limits of a request share one, so their headers are merged. */
const pending = new WeakMap<Request, HonoResponseView>();

/** What `@hono/node-server` does not write, because the response is on its way. */
export function alreadySent(): Response {
  const response = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
  // Its short cut, a response that nothing has read, is written in any case.
  void response.body;
  return response;
}

/** Collects the headers of a request's limits until there is a response. */
export class HonoResponseView implements ResponseView {
  readonly headers: Headers = new Headers();
  readonly #node: NodeResponseView | undefined;
  readonly #listeners = new Set<(complete: boolean) => void>();
  #complete: boolean | undefined;
  #status = 0;

  private constructor(context: Context) {
    const outgoing = nodeOf(context)?.outgoing;
    if (outgoing !== undefined) this.#node = new NodeResponseView(outgoing);
    else {
      const { signal } = context.req.raw;
      if (signal.aborted) this.over(0, false);
      else signal.addEventListener('abort', () => this.over(0, false), { once: true });
    }
  }

  /** @returns the view, and whether this is the first limit of the request */
  static of(context: Context): [view: HonoResponseView, isFirst: boolean] {
    const { raw } = context.req;
    const known = HonoResponseView.known(context);
    if (known !== undefined) return [known, false];
    const view = new HonoResponseView(context);
    pending.set(raw, view);
    return [view, true];
  }

  /** The view of a request that a limit has seen. */
  static known(context: Context): HonoResponseView | undefined {
    return pending.get(context.req.raw);
  }

  get sent(): boolean {
    return this.#node?.sent ?? this.#complete !== undefined;
  }

  get status(): number {
    return this.#status;
  }

  get(name: string): string | undefined {
    return this.headers.get(name) ?? undefined;
  }

  set(name: string, value: string): void {
    this.headers.set(name, value);
  }

  append(name: string, items: string): void {
    this.headers.append(name, items);
  }

  /** On Node.js until the client has the whole body; elsewhere until the handler returned its response. */
  whenOver(listener: (complete: boolean) => void): void {
    if (this.#node !== undefined) {
      this.#node.whenOver((complete) => {
        if (this.#status === 0) this.#status = this.#node!.status; // the handler wrote to Node's response
        listener(complete);
      });
    } else if (this.#complete === undefined) this.#listeners.add(listener);
    else listener(this.#complete);
  }

  /** Did other code write to Node's response? */
  get begun(): boolean {
    return this.#node?.sent === true;
  }

  endBegun(): void {
    this.#node?.endBegun();
  }

  /** There is a response; or, without one, the client disconnected. Only the first call counts. */
  over(status: number, complete: boolean): void {
    if (this.#complete !== undefined) return;
    this.#status = status;
    this.#complete = complete;
    for (const listener of this.#listeners) listener(complete);
  }

  /** Adds the headers to the response of a handler. */
  applyTo(context: Context): void {
    const { status } = context.res;
    this.over(status, true);
    // An upgrade (101) and Response.error() (0) cannot be copied.
    if (status < 200 || this.begun) return;
    const headers = new Headers(context.res.headers);
    for (const [name, value] of this.headers) headers.set(name, value);
    const { body, statusText } = context.res;
    context.res = undefined;
    context.res = new Response(body, { status, statusText, headers });
  }
}
