import type { Store } from '@sluice/core';
import { checkBoolean, checkFunction, checkOptions, describe, warn } from '@sluice/core/internal';
import { answer, json, Refusal } from './answers.js';
import { change } from './change.js';
import { Hosts } from './hosts.js';
import { keySource } from './key-watch.js';
import { Limiters } from './limiters.js';
import { Live } from './live.js';
import type { Finding } from './messages.js';
import { CSS, HTML, JS } from './page.script.js';
import { bodyOf } from './request-body.js';
import { Streams } from './streams.js';

export interface DashboardOptions<Context = unknown> {
  /**
   * Is the sender of this request allowed to see the page? `context` is what you pass to the page as its second argument; with `nodeHandler` the
   * request of your framework. Unless it returns `true`, or a promise of it, the response is 401. Behind your own sign-in: `() => true`.
   */
  readonly authorize: (request: Request, context: Context) => boolean | Promise<boolean>;
  /** Shows buttons that unblock, reset and override keys. Default `false`: the page only reads. */
  readonly write?: boolean;
  /**
   * The host names of the page, such as `['admin.example.com']`, as the browser's address bar has them; other names get 421. Default: names
   * of this machine (`localhost`, `127.0.0.1`, `[::1]`), with any port.
   */
  readonly hosts?: readonly string[];
  /** Searches problems for limits once a minute while a page is open. `sluice dashboard` passes the findings of `sluice doctor`. */
  readonly findings?: () => Promise<readonly Finding[]>;
}

/** A web-standard handler: pass every request below the path of the page. */
export interface Dashboard<Context = unknown> {
  (
    request: Request,
    ...context: unknown extends Context ? [context?: Context] : [context: Context]
  ): Promise<Response>;
  /** Ends all open streams. Call it before you close the server. */
  close(): Promise<void>;
}

type Route = { readonly method: 'GET' | 'POST'; answer(request: Request): Response | Promise<Response> };

/**
 * The live page of the limiters of a store. Mount it at any path.
 * @throws TypeError for an invalid option
 */
export function dashboard<Context = unknown>(
  store: Store,
  options: DashboardOptions<Context>,
): Dashboard<Context> {
  checkOptions('dashboard', options, ['authorize', 'write', 'hosts', 'findings']);
  const { authorize, write = false, findings } = options;
  // Without a notice board, as in a store of your own, each open page would fail, and leave its subscriptions behind.
  if (typeof store?.decide !== 'function' || store.fleet === undefined) {
    throw new TypeError(`dashboard: store must be memoryStore() or redisStore(…), not ${describe(store)}`);
  }
  if (typeof authorize !== 'function') {
    throw new TypeError(
      `dashboard: authorize must be a function (request) => boolean, not ${describe(authorize)}. Behind your own sign-in: () => true`,
    );
  }
  checkBoolean('dashboard: write', write);
  checkFunction('dashboard: findings', findings);
  const hosts = new Hosts(options.hosts);
  const limiters = new Limiters(store);
  const streams = new Streams();
  const live = new Live(store, limiters, write, findings);

  const text = (body: string, type: string): Route => ({
    method: 'GET',
    answer: () => answer(200, body, { 'Content-Type': `${type}; charset=utf-8` }),
  });
  const routes: Readonly<Record<string, Route>> = {
    '': text(HTML, 'text/html'),
    'page.js': text(JS, 'text/javascript'),
    'page.css': text(CSS, 'text/css'),
    events: { method: 'GET', answer: ({ signal }) => streams.open(live.source, signal) },
    key: {
      method: 'POST',
      answer: async (request) => streams.open(keySource(limiters, await bodyOf(request)), request.signal),
    },
    change: {
      method: 'POST',
      answer: async (request) => {
        if (!write) throw new Refusal(403, 'This page only reads: pass `write: true` to change keys');
        return change(limiters, await bodyOf(request));
      },
    },
  };

  const handle = async (request: Request, context: Context): Promise<Response> => {
    if (!hosts.accepts(request)) return answer(421, 'This host is not in the option `hosts`\n');
    if (!(await isAuthorized(request, context))) return answer(401, 'Sign in to see this page\n');
    const { pathname, search } = new URL(request.url);
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
    if (route === undefined) {
      // Links of the page are relative, so its address must end with a slash. Without ./ a name such as https:1249763844 would be another site.
      if (!name.includes('.')) return answer(308, '', { Location: `./${name}/${search}` });
      return answer(404, 'Not found\n');
    }
    const { method } = route;
    if (request.method !== method) return answer(405, 'Method not allowed\n', { Allow: method });
    if (method === 'POST' && !hosts.isFromPage(request)) throw new Refusal(403, 'Not sent by this page');
    return route.answer(request);
  };

  const isAuthorized = async (request: Request, context: Context): Promise<boolean> => {
    try {
      return (await authorize(request, context)) === true;
    } catch (error) {
      warn(
        'SLUICE_DASHBOARD_AUTHORIZE',
        `dashboard: authorize failed, so the answer is 401: ${error instanceof Error ? error.message : describe(error)}`,
      );
      return false;
    }
  };

  const page = async (request: Request, context?: Context): Promise<Response> => {
    try {
      return await handle(request, context as Context);
    } catch (error) {
      if (error instanceof Refusal) return json(error.status, { error: error.message });
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    streams.close();
    live.stop();
    await limiters.close();
  };
  return Object.assign(page, { close }) as Dashboard<Context>;
}
