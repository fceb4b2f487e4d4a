import type { Answer, Call } from '../../packages/core/src/call/call.js';
import type { StoreHealth } from '../../packages/core/src/health/store-health.js';
import type { Store, StoreCaller } from '../../packages/core/src/stores/store.js';
import type { Connection } from './connection.js';
import type { Decided } from './server.js';

/** A store that decides in one message, as Redis does with a script. */
export class ScriptStore implements Store {
  readonly name = 'script';
  readonly remote = true;
  readonly slotted = false;
  readonly clock: Store['clock'];
  readonly health: StoreHealth;
  readonly #subscribed = new Map<string, Set<(id: number) => void>>();
  #closed = false;

  constructor(readonly connection: Connection) {
    const { StoreHealth, systemClock } = connection.process.product;
    this.clock = systemClock;
    this.health = new StoreHealth(
      () => undefined,
      () => undefined,
      'script',
    );
    connection.granted = (granted) => this.#granted(granted!);
  }

  #granted(granted: readonly (readonly [string, number])[]): void {
    const { process, network } = this.connection;
    for (const [key, id] of granted) {
      if (!this.#subscribed.has(key) || network.loses()) continue;
      process.receive(process.now + network.delay(), () => {
        for (const listener of this.#subscribed.get(key) ?? []) listener(id);
      });
    }
  }

  async decide(call: Call, caller: StoreCaller = {}): Promise<Answer> {
    const { connection } = this;
    const { product, instance } = connection.process;
    if (this.#closed || caller.abandoned) {
      const reason = this.#closed ? 'closed' : 'timeout';
      throw new product.StoreUnavailableError('the store: not sent', { reason, neverSent: true });
    }
    return connection.ask<Answer>(call.operation, (reply) => {
      const { server } = connection;
      const keys = call.parts.map(({ limit, key }) => limit.prefix + key + limit.suffix);
      const { open, era } = server.read(keys);
      const turn = new product.DecidedTurn(open);
      const decided: Decided[] = [];
      instance.decided = (one, answer) => decided.push({ call: one, answer });
      const answer = turn.decide(call);
      instance.decided = undefined;
      server.keep(connection, open, era, turn.changes, decided, turn.granted);
      reply(answer);
    });
  }

  async listen(key: string, granted: (id: number) => void): Promise<() => void> {
    // Subscriptions have a connection of their own, which is opened first.
    for (const step of ['connect', 'log in', 'subscribe'])
      await this.connection.ask<void>(step, (reply) => reply());
    const listeners = this.#subscribed.get(key) ?? new Set();
    this.#subscribed.set(key, listeners);
    listeners.add(granted);
    return () => {
      listeners.delete(granted);
      if (listeners.size === 0) this.#subscribed.delete(key);
    };
  }

  /** Calls that wait for a message of the server. */
  get listeners(): number {
    return this.#subscribed.size;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.health.end();
  }
}
