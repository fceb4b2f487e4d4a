import type { RateLimiter, Store } from '../../packages/core/src/index.js';
import { fractionsFrom } from '../support/random.js';
import { budgetOf, hasBudget } from './budget.js';
import { Connection, type Network } from './connection.js';
import type { Instance, Instances } from './instance.js';
import type { Limit } from './limits.js';
import { Scheduler } from './scheduler.js';
import { ScriptStore } from './script-store.js';
import { Server } from './server.js';
import { Story } from './story.js';
import { LockingTable, SwappingTable } from './tables.js';
import { VirtualProcess } from './virtual-process.js';

/** Faults on purpose of the simulated table, which is no part of the product. */
export type TableFault = 'reads the clock before the locks' | 'swaps blindly';

/** How a limiter is set up in all processes of a run. */
export interface Settings {
  readonly limit: Limit;
  /** ms */
  readonly deadline: number;
  /** ms; 0: none. */
  readonly denyCache: number;
  readonly failurePolicy: 'local' | 'allow' | 'deny' | { readonly local: { readonly share: number } };
  /** ms */
  readonly margin: number;
}

/** A process with its limiters. */
export interface Member {
  readonly process: VirtualProcess;
  readonly connection: Connection;
  readonly store: Store & { readonly health: NonNullable<Store['health']> };
  readonly limiters: ReadonlyMap<string, RateLimiter>;
  /** In some fleets. */
  readonly budget: ReturnType<typeof budgetOf> | undefined;
  /** Calls that wait for a message of the server. */
  listeners(): number;
}

const KINDS = ['locks', 'swaps', 'script'] as const;

/** Everything that one run consists of. */
export class World implements Network {
  readonly scheduler = new Scheduler();
  readonly story = new Story(() => this.scheduler.now);
  readonly random: () => number;
  readonly kind: (typeof KINDS)[number];
  readonly server: Server;
  readonly members: Member[] = [];
  /** µs that a message takes at most. */
  latency = 800;
  /** The share of messages that are lost. */
  lossy = 0;
  readonly #instances: Instance[] = [];

  constructor(
    readonly seed: number,
    private readonly instances: Instances,
    private readonly tableFault: TableFault | undefined,
  ) {
    this.random = fractionsFrom(seed);
    this.kind = this.pick(KINDS);
    this.server = new Server(this.scheduler, tableFault === 'reads the clock before the locks');
    this.story.note('world', `seed ${seed}: a store that ${this.kind}`);
  }

  /** A whole number from 0 to less than `below`. */
  dice(below: number): number {
    return Math.floor(this.random() * below);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.dice(from.length)]!;
  }

  delay(): number {
    return 100 + this.dice(this.latency);
  }

  loses(): boolean {
    return this.lossy > 0 && this.random() < this.lossy;
  }

  /** Starts a process. */
  start(name: string, all: readonly Settings[]): Member {
    const instance = this.instances.take();
    this.#instances.push(instance);
    const process = new VirtualProcess(name, instance, this.scheduler, this.random);
    const connection = new Connection(process, this.server, this, (what) => this.story.note(name, what));
    const { store, listeners } = this.#storeOf(process, connection);
    const { RateLimiter } = process.product;
    const limiters = new Map(
      all.map(({ limit, deadline, denyCache, failurePolicy, margin }) => {
        const made = Object.entries(limit.rules).map(([own, rule]) => [
          own,
          rule.make(process.product, rule.limit),
        ]);
        const policies = made.length === 1 ? { policy: made[0]![1] } : { policies: Object.fromEntries(made) };
        const options = { name: limit.name, store, deadline, failurePolicy, margin, ...policies };
        const cached = { denyCache: denyCache === 0 ? (false as const) : denyCache };
        const prefetched = limit.prefetch === undefined ? {} : { prefetch: limit.prefetch };
        return [limit.name, new RateLimiter({ ...options, ...cached, ...prefetched } as never)];
      }),
    );
    const budget = hasBudget(this.seed) ? budgetOf(process.product, store) : undefined;
    const member = { process, connection, store, limiters, budget, listeners };
    this.members.push(member);
    return member;
  }

  #storeOf(process: VirtualProcess, connection: Connection): Pick<Member, 'store' | 'listeners'> {
    if (this.kind === 'script') {
      const store = new ScriptStore(connection);
      return { store, listeners: () => store.listeners };
    }
    const table =
      this.kind === 'locks'
        ? new LockingTable(connection)
        : new SwappingTable(connection, this.tableFault === 'swaps blindly');
    const { EntryStore, systemClock } = process.product;
    const options = { definitions: false };
    const store = new EntryStore({ name: 'table', address: 'simulated', clock: systemClock, table, options });
    return { store, listeners: () => table.listeners };
  }

  get alive(): readonly Member[] {
    return this.members.filter(({ process }) => !process.killed);
  }

  /** Its processes give their copies of the product back, unless one was killed within a tick: all that its copy keeps between calls is about ticks. */
  end(): void {
    this.#instances.forEach((instance, i) => {
      if (!this.members[i]!.process.endedWithinTurn) this.instances.giveBack(instance);
    });
  }
}
