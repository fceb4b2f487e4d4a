import type { Changes, EntryTable, OpenKeys } from '../../packages/entries/src/entry-table.js';
import type { Connection } from './connection.js';
import type { Decided, Transaction } from './server.js';

/** The client side of a table on the server. */
abstract class Table implements EntryTable {
  readonly #watching = new Set<() => void>();

  constructor(readonly connection: Connection) {
    connection.granted = () => {
      const { process, network } = connection;
      if (network.loses()) return;
      process.receive(process.now + network.delay(), () => {
        for (const granted of this.#watching) granted();
      });
    };
  }

  abstract change(keys: readonly string[], decide: (open: OpenKeys) => Changes): Promise<void>;

  /** Decides, and notes what was decided. */
  protected decided(
    open: OpenKeys,
    decide: (open: OpenKeys) => Changes,
  ): { changes: Changes; decided: readonly Decided[] } {
    const decided: Decided[] = [];
    const { instance } = this.connection.process;
    instance.decided = (call, answer) => decided.push({ call, answer });
    try {
      return { changes: decide(open), decided };
    } finally {
      instance.decided = undefined;
    }
  }

  watch(granted: () => void): () => void {
    this.#watching.add(granted);
    return () => this.#watching.delete(granted);
  }

  /** Calls that wait for a message of other processes. */
  get listeners(): number {
    return this.#watching.size;
  }

  /** For `sluice copy`, which no process of a fleet runs. */
  keysAfter(): readonly string[] {
    return [];
  }

  async sweep(): Promise<boolean> {
    await this.connection.ask<void>('sweep', (reply) => reply(this.connection.server.sweep()));
    return false;
  }

  async connect(): Promise<void> {}

  async close(): Promise<void> {}
}

/** Locks the keys, as `SELECT … FOR UPDATE` does, and keeps the turn with a second message. */
export class LockingTable extends Table {
  async change(keys: readonly string[], decide: (open: OpenKeys) => Changes): Promise<void> {
    const { connection } = this;
    const { server } = connection;
    const earlier = server.clock;
    const [transaction, open] = await connection.ask<[Transaction, OpenKeys]>('lock', (reply) =>
      server.lock(connection, keys, earlier, (begun) =>
        reply([begun, { ...server.read(keys).open, now: begun.now }]),
      ),
    );
    const { changes, decided } = this.decided(open, decide);
    const isKept = await connection.ask<boolean>('keep', (reply) => {
      const isOpen = server.isOpen(transaction);
      if (isOpen) server.keep(connection, open, transaction.era, changes, decided);
      server.end(transaction);
      reply(isOpen);
    });
    if (isKept) return;
    const { StoreUnavailableError } = connection.process.product;
    throw new StoreUnavailableError('the store: the transaction was ended', { reason: 'connection' });
  }
}

/** Reads the keys, and keeps the turn if no other process has changed them meanwhile. Otherwise it decides again. */
export class SwappingTable extends Table {
  constructor(
    connection: Connection,
    /** A fault on purpose: it keeps the turn in any case. */
    readonly swapsBlindly: boolean,
  ) {
    super(connection);
  }

  async change(keys: readonly string[], decide: (open: OpenKeys) => Changes): Promise<void> {
    const { connection } = this;
    const { server } = connection;
    for (;;) {
      const read = await connection.ask<ReturnType<typeof server.read>>('read', (reply) =>
        reply(server.read(keys)),
      );
      const { changes, decided } = this.decided(read.open, decide);
      const isKept = await connection.ask<boolean>('swap', (reply) => {
        const { versions } = server.read(keys);
        const isSame = this.swapsBlindly || versions.every((version, i) => version === read.versions[i]);
        if (isSame) server.keep(connection, read.open, read.era, changes, decided);
        reply(isSame);
      });
      if (isKept) return;
      connection.noted('another process was faster');
    }
  }
}
