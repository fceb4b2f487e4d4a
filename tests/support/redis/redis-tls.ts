import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { localRedisBinary } from './redis-binary.ts';
import { startSentinel } from './redis-sentinel.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

export interface TlsRedis extends RedisServer {
  /** A `rediss://` address, beside the plain one. */
  readonly tlsUrl: string;
}

/** Files of `certificates`: two authorities, and a certificate by each of them for the same key. */
export const AUTHORITY = certificate('ca.crt');
export const CERTIFICATE = certificate('server.crt');
export const WRONG_AUTHORITY = certificate('wrong-ca.crt');
export const WRONG_CERTIFICATE = certificate('wrong-server.crt');

/** Starts a Redis that listens with and without TLS, at 127.0.0.1 and localhost. */
export async function startTlsRedis(shown = CERTIFICATE): Promise<TlsRedis> {
  await localRedisBinary('A Redis with TLS of the tests');
  const port = await freePort();
  const server = await startRedis({
    args: tlsArguments(port, shown),
  });
  // The server's own getters stay: its pid changes.
  return Object.assign(Object.create(server) as RedisServer, { tlsUrl: `rediss://127.0.0.1:${port}` });
}

/** Starts a Sentinel that uses TLS with clients and with its server, `mymaster`. @param master TLS port of that server */
export async function startTlsSentinel(
  master: number,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const [plain, port] = [await freePort(), await freePort()];
  const lines = [
    ...['bind 127.0.0.1', `port ${plain}`, 'tls-replication yes'],
    ...tlsArguments(port).flatMap((word, i, all) => (i % 2 === 0 ? [`${word.slice(2)} ${all[i + 1]}`] : [])),
    `sentinel monitor mymaster 127.0.0.1 ${master} 1`,
  ];
  const stop = await startSentinel(plain, lines.join('\n'));
  return { port, stop };
}

/** Arguments of a server that also listens with TLS. */
export function tlsArguments(port: number, shown = CERTIFICATE): string[] {
  const files = { cert: shown, key: certificate('server.key'), 'ca-cert': AUTHORITY };
  return [
    ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
    ...Object.entries(files).flatMap(([name, file]) => [`--tls-${name}-file`, file]),
  ];
}

function certificate(name: string): string {
  return join(__dirname, 'certificates', name);
}
