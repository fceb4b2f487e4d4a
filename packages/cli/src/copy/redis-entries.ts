import type { PutOptions, StoredEntries, StoredEntry } from '@sluice/entries';
import { Cluster, type Redis } from 'ioredis';

/** Keys at which one SCAN looks. */
const STEP = 500;

/** The entries of a Redis. `SCAN` returns each key that is there all the time, and may return it twice. */
export class RedisEntries implements StoredEntries {
  constructor(private readonly client: Redis | Cluster) {}

  async now(): Promise<number> {
    const [seconds, micros] = await this.client.time();
    return Number(seconds) * 1_000_000 + Number(micros);
  }

  async *pages(prefix: string): AsyncGenerator<readonly StoredEntry[]> {
    const { client } = this;
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const clientPrefix = client.options.keyPrefix ?? '';
    const pattern = `${(clientPrefix + prefix).replace(/[*?[\]\\]/g, '\\$&')}*`;
    for (const node of nodes) {
      let cursor = '0';
      do {
        const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', STEP);
        cursor = next;
        // Also an empty page: a reader waits for one answer at a time, and most keys may be of another program.
        yield this.#read(keys.map((key) => key.slice(clientPrefix.length)));
      } while (cursor !== '0');
    }
  }

  /** The commands of a page leave together. */
  async #read(keys: readonly string[]): Promise<StoredEntry[]> {
    return (await Promise.all(keys.map((key) => this.#entry(key)))).flat();
  }

  /** @returns nothing if it has expired meanwhile, or is no string, as no entry of ours */
  async #entry(key: string): Promise<StoredEntry[]> {
    const isOfOthers = (error: unknown) => {
      if (/^WRONGTYPE/.test((error as Error).message)) return null;
      throw error;
    };
    const [entry, ms] = await Promise.all([
      this.client.getBuffer(key).catch(isOfOthers),
      this.client.pttl(key),
    ]);
    if (entry === null || ms === -2) return [];
    return [{ key, entry, left: ms === -1 ? Number.POSITIVE_INFINITY : ms * 1_000 }];
  }

  async put(entries: readonly StoredEntry[], { overwrites, dryRun }: PutOptions): Promise<number> {
    const written = await Promise.all(
      entries.map(async (entry) => {
        if (dryRun) return overwrites || (await this.client.exists(entry.key)) === 0;
        return (await this.#set(entry, overwrites)) !== null;
      }),
    );
    return written.filter(Boolean).length;
  }

  #set({ key, entry, left }: StoredEntry, overwrites: boolean): Promise<'OK' | null> {
    const { client } = this;
    if (!Number.isFinite(left)) return overwrites ? client.set(key, entry) : client.set(key, entry, 'NX');
    const ms = Math.max(1, Math.ceil(left / 1_000)); // PTTL says 0 in the last millisecond, which SET refuses
    return overwrites ? client.set(key, entry, 'PX', ms) : client.set(key, entry, 'PX', ms, 'NX');
  }
}
