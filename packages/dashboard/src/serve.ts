import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Store } from '@sluice/core';
import { checkInteger, checkOptions } from '@sluice/core/internal';
import { answer } from './answers.js';
import { type Dashboard, type DashboardOptions, dashboard } from './dashboard.js';
import { nodeHandler } from './node-handler.js';

export interface ServeOptions extends Pick<DashboardOptions, 'write' | 'findings'> {
  /** The port. Default 0: a free port. */
  readonly port?: number;
}

export interface ServedDashboard {
  /** The address of the page. It works once: the browser that opens it gets a cookie. */
  readonly url: string;
  close(): Promise<void>;
}

const secret = (): string => randomBytes(32).toString('base64url');

/**
 * Serves the live page on 127.0.0.1, for one browser: the one that opens `url` first.
 * @throws TypeError, RangeError for an invalid option; the error of a port that is in use
 */
export async function serveDashboard(store: Store, options: ServeOptions = {}): Promise<ServedDashboard> {
  checkOptions('serveDashboard', options, ['write', 'findings', 'port']);
  const { port: wanted = 0, ...rest } = options;
  checkInteger('serveDashboard: port', wanted, 0, 65_535);
  // Other servers on this machine share the name 127.0.0.1 and its cookies, so the cookie is bound to this path.
  const path = `/${secret().slice(0, 12)}/`;
  const session = secret();
  let token: string | undefined = secret();
  const page = dashboard(store, { ...rest, authorize: (request) => isEqual(cookieOf(request), session) });
  const withToken = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const given = searchParams.get('token') ?? '';
    if (pathname !== path || token === undefined || !isEqual(given, token)) return page(request);
    // Responds 421 to a foreign host, and 401 to others: there is no cookie yet.
    const refused = await page(request);
    if (refused.status !== 401) return refused;
    token = undefined;
    const cookie = `${COOKIE}=${session}; Path=${path}; HttpOnly; SameSite=Strict`;
    return answer(303, '', { Location: path, 'Set-Cookie': cookie });
  };
  const { url, close } = await listen(Object.assign(withToken, { close: page.close }), wanted);
  return { url: `${url}${path}?token=${token}`, close };
}

const COOKIE = 'sluice';

const cookieOf = ({ headers }: Request): string =>
  new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(headers.get('Cookie') ?? '')?.[1] ?? '';

/** Compares two texts in constant time. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}

async function listen(page: Dashboard, wanted: number): Promise<ServedDashboard> {
  const server = createServer(nodeHandler(page));
  server.listen(wanted, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    await page.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    await page.close();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
