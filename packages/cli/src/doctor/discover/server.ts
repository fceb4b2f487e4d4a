import type { NodeAddress } from '../node.js';
import type { Connection, Credentials } from '../settings.js';

/** The host and the port of an address. */
export function addressIn(address: string | { readonly host: string; readonly port?: number }): NodeAddress {
  if (typeof address !== 'string') return { host: address.host, port: address.port ?? 6379 };
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port || 6379) };
}

/** The user, the password and TLS of a connection, also from its address. */
export function credentialsOf(connection: Connection): Credentials {
  const [url] = urlsOf(connection);
  const username = connection.username ?? partOf(url?.username);
  const password = connection.password ?? partOf(url?.password);
  const tls = connection.tls ?? /^(?:rediss|valkeys):$/.test(url?.protocol ?? '');
  const { family } = (connection.options ?? {}) as { family?: number };
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== false && { tls: tls === true ? {} : tls }),
    ...(family !== undefined && { family }),
  };
}

export function databaseOf(connection: Connection): number {
  const ofOptions = (connection.options as { db?: number | string } | undefined)?.db;
  const ofAddress = urlsOf(connection)[0]?.pathname.slice(1);
  return Number(ofOptions ?? ofAddress ?? 0);
}

function urlsOf(connection: Connection): URL[] {
  const addresses =
    'url' in connection ? [connection.url] : 'cluster' in connection ? connection.cluster : [];
  return addresses.flatMap((address) => (typeof address === 'string' ? [new URL(address)] : []));
}

const partOf = (encoded: string | undefined): string | undefined =>
  encoded ? decodeURIComponent(encoded) : undefined;
