import { charCodeAt } from '../../runtime.js';
import type { Listeners, RedisClient, RedisClientSettings } from './client.js';

/** What a client of a cluster shows of its nodes. */
export interface ClusterView {
  /** `host:port` of the node that serves a slot; empty when that is not known. */
  nodeAt(slot: number): string;
  /** The connection to it. */
  connectionAt(slot: number): RedisClient | undefined;
}

/** As clients name nodes. */
export const nameOf = ({ host = '127.0.0.1', port = 6379 }: RedisClientSettings = {}): string =>
  `${host}:${port}`;

/** A `Cluster` of ioredis or iovalkey. */
interface IoredisCluster extends RedisClient {
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(): readonly RedisClient[];
}

export function isIoredisCluster(client: RedisClient): client is IoredisCluster {
  const { slots, nodes } = client as Partial<IoredisCluster>;
  return client.isCluster === true && Array.isArray(slots) && typeof nodes === 'function';
}

/** Follows the nodes of a cluster client as it adds and removes them. */
export function followNodes(
  client: IoredisCluster,
  listeners: Listeners,
  follow: (node: RedisClient, name: string) => void,
): ClusterView {
  const connections = new Map<string, RedisClient>();
  const nodeAt = (slot: number): string => client.slots[slot]?.[0] ?? '';
  const add = (added: unknown) => {
    const node = added as RedisClient;
    const name = nameOf(node.options);
    connections.set(name, node);
    follow(node, name);
  };
  for (const node of client.nodes()) add(node);
  listeners.add(client, '+node', add);
  listeners.add(client, '-node', (removed) => {
    const node = removed as RedisClient;
    const name = nameOf(node.options);
    listeners.remove(node);
    if (connections.get(name) === node) connections.delete(name); // otherwise it was replaced
  });
  return { nodeAt, connectionAt: (slot) => connections.get(nodeAt(slot)) };
}

/** CRC-16/XMODEM by the incoming byte: Redis Cluster derives the slot of a key from it. */
const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The hash slot of a key, 0 to 16383: of its hash tag, which is the text in the first braces unless it is empty; otherwise of the whole key. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? crcOf(key, open + 1, close) : crcOf(key, 0, key.length);
}

function crcOf(key: string, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at += 1) {
    const code = charCodeAt(key, at);
    if (code > 0x7f) return crcOfBytes(Buffer.from(key.slice(from, to)));
    crc = step(crc, code);
  }
  return crc & 0x3fff;
}

function crcOfBytes(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = step(crc, byte);
  return crc & 0x3fff;
}

const step = (crc: number, byte: number): number => ((crc << 8) ^ CRC[(crc >> 8) ^ byte]!) & 0xffff;
