import {
  type Advice,
  type NodeResponseView,
  type Proxies,
  pathOf,
  queryOf,
  type RequestView,
} from '@sluice/http';
import type { Context } from 'hono';
import type { GetConnInfo } from 'hono/conninfo';
import { routePath } from 'hono/route';

const ADVICE: Advice = {
  body: "Put a body parser in front of the limit, such as validator('json', …) of hono/validator",
  route: 'Put the limit on the route itself: app.get(path, limit, …)',
};

/** What `@hono/node-server` puts into `env`. */
interface NodeBindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  readonly outgoing?: ConstructorParameters<typeof NodeResponseView>[0];
  readonly server?: NodeBindings;
}

/** Node's request and response, if `@hono/node-server` serves the app. */
export function nodeOf({ env }: Context): NodeBindings | undefined {
  const bindings = env as NodeBindings | undefined;
  const node = bindings?.server ?? bindings;
  return node?.outgoing !== undefined && node.incoming?.socket !== undefined ? node : undefined;
}

/** The view of a Hono context. Authentication puts `user` on it, validators put bodies. */
export class HonoRequestView implements RequestView {
  constructor(
    readonly context: Context,
    readonly connInfo: GetConnInfo | undefined,
  ) {}

  get ip(): string | undefined {
    if (this.connInfo !== undefined) return this.connInfo(this.context).remote.address;
    return nodeOf(this.context)?.incoming?.socket?.remoteAddress;
  }

  get user(): unknown {
    return this.context.get('user');
  }

  get method(): string {
    return this.context.req.method;
  }

  get path(): string {
    return pathOf(this.context.req.path);
  }

  /** The pattern of the handler at which the limit is; of `app.use` that is its own, so it is no route. */
  get route(): string | undefined {
    const pattern = routePath(this.context);
    return /(^|\/)\*(\/|$)/.test(pattern) ? undefined : pattern;
  }

  get params(): unknown {
    return this.context.req.param();
  }

  get query(): unknown {
    return queryOf(new URL(this.context.req.url).searchParams);
  }

  get body(): unknown {
    const { req } = this.context;
    const json: unknown = req.valid('json' as never);
    return json === undefined ? req.valid('form' as never) : json;
  }

  /** Hono does not say whether a validator ran that found no body. */
  get bodyParsed(): true | undefined {
    return this.body === undefined ? undefined : true;
  }

  get headers(): unknown {
    return this.context.req.header();
  }

  /** Nothing is known of the proxies that `getConnInfo` trusts. */
  get proxies(): Proxies | undefined {
    return this.connInfo === undefined ? 'none' : undefined;
  }

  get source(): object {
    return this.context.req.raw;
  }

  get advice(): Advice {
    return ADVICE;
  }
}
