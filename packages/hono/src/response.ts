import { NodeResponseView, PendingResponse, type Reply, webResponseOf, withHeaders } from '@sluice/http';
import type { Context } from 'hono';
import { nodeOf } from './request.js';

/**
 * All limits of a request share one view, so their headers are merged. It is a property of the request and of the context, because a middleware may
 * replace the first, and a mounted app the second. An entry in a WeakMap for each request costs the garbage collector time.
 */
const VIEW = Symbol('sluice.response');

type Viewed = { [VIEW]?: HonoResponseView };

/** The header by which a handler tells `@hono/node-server` that it writes Node's response itself. */
const ALREADY_SENT = 'x-hono-already-sent';

/** What `@hono/node-server` does not write, because the response is on its way. */
export function alreadySent(): Response {
  const response = new Response(null, { headers: { [ALREADY_SENT]: 'true' } });
  // Its short cut, a response that nothing has read, is written in any case.
  void response.body;
  return response;
}

/** As of any web-standard request; on Node.js, with the response that Node writes. */
export class HonoResponseView extends PendingResponse {
  readonly #node: NodeResponseView | undefined;
  /** Of a denial: it has all headers. */
  #denied: Response | undefined;

  private constructor(context: Context) {
    const outgoing = nodeOf(context)?.outgoing;
    super(outgoing === undefined ? context.req.raw.signal : undefined);
    this.#node = outgoing && new NodeResponseView(outgoing);
  }

  /** @returns the view, and whether this is the first limit of the request */
  static of(context: Context): [view: HonoResponseView, isFirst: boolean] {
    const known = HonoResponseView.known(context);
    const view = known ?? new HonoResponseView(context);
    (context as Viewed)[VIEW] = view;
    (context.req.raw as Viewed)[VIEW] = view;
    return [view, known === undefined];
  }

  /** The view of a request that a limit has seen. */
  static known(context: Context): HonoResponseView | undefined {
    return (context as Viewed)[VIEW] ?? (context.req.raw as Viewed)[VIEW];
  }

  override get sent(): boolean {
    return this.#node?.sent ?? this.isOver;
  }

  /** On Node.js until the client has the whole body; elsewhere until the handler returned its response. */
  override whenOver(listener: (complete: boolean) => void): void {
    const node = this.#node;
    if (node === undefined) super.whenOver(listener);
    else {
      node.whenOver((complete) => {
        if (this.status === 0) this.status = node.status; // the handler wrote to Node's response
        listener(complete);
      });
    }
  }

  /** Did other code write to Node's response? */
  get begun(): boolean {
    return this.#node?.sent === true;
  }

  override endBegun(): void {
    this.#node?.endBegun();
  }

  /** Adds the headers to a response that Hono will make, so that it need not be copied. A response of a handler's own gets them in `applyTo`. */
  announce(context: Context): void {
    for (const [name, value] of this.headers) context.header(name, value);
  }

  /** The response to a denied request. */
  deny(reply: Reply): Response {
    this.#denied = webResponseOf(reply, this.headers);
    return this.#denied;
  }

  /** Adds the headers to the response of a handler. */
  applyTo(context: Context): void {
    const { res } = context;
    if (res === this.#denied) {
      this.over(res.status, true);
      return;
    }
    const node = this.#node;
    // The handler writes Node's response itself, perhaps later: the status there counts, and a copy of `res` would be written first.
    if (node !== undefined && (node.sent || res.headers.has(ALREADY_SENT))) {
      this.over(0, true);
      if (!node.sent) for (const [name, value] of this.headers) node.set(name, value);
      return;
    }
    this.over(res.status, true);
    const response = withHeaders(res, this.headers);
    if (response === res) return;
    context.res = undefined; // Hono would merge the headers of both
    context.res = response;
  }
}
