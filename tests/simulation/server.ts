import type { Answer, Call } from '../../packages/core/src/call/call.js';
import type { Changes, KeptEntry, OpenKeys } from '../../packages/entries/src/entry-table.js';
import { EPOCH } from './globals.js';
import type { Scheduler } from './scheduler.js';
import type { VirtualProcess } from './virtual-process.js';

/** A call that was decided, with the answer that it gets once the decision is kept. */
export interface Decided {
  readonly call: Call;
  readonly answer: Answer;
}

/** A decision that the server has kept. */
export interface Kept extends Decided {
  readonly process: VirtualProcess;
  /** Virtual time, µs. */
  readonly at: number;
  /** The number of losses and jumps of the clock before: no promise spans one of them. */
  readonly era: number;
}

/** A turn that is about to be kept. */
export interface KeptTurn {
  readonly process: VirtualProcess;
  readonly open: OpenKeys;
  readonly changed: readonly KeptEntry[];
  readonly decided: readonly Decided[];
}

/** A connection, as the server sees it. */
export interface Peer {
  readonly process: VirtualProcess;
  /** Another process has kept a turn that grants, or a waiting call was admitted: called for each. */
  granted(keys: readonly (readonly [key: string, id: number])[] | undefined): void;
}

interface Transaction {
  readonly peer: Peer;
  readonly keys: readonly string[];
  /** When its locks were taken; a clock that is wrong on purpose is read before. */
  begin(): void;
  open: boolean;
  now: number;
  era: number;
}

type Stored = KeptEntry & { readonly version: number };

/** µs after which the server ends a transaction that does nothing. */
const IDLE = 400_000;

/** The server of a fleet: entries, locks and a clock. Its methods run when a request has arrived. */
export class Server {
  /** Every decision that was kept, in order. */
  readonly log: Kept[] = [];
  readonly peers = new Set<Peer>();
  /** Is it reachable? */
  up = true;
  era = 0;
  /** How its clock has jumped, µs. */
  readonly jumps: number[] = [];
  /** µs by which its clock is wrong. */
  skew = 0;
  /** Called with each decision that is kept. */
  heard: (kept: Kept) => void = () => {};
  /** Called before a turn changes anything. */
  keeping: (turn: KeptTurn) => void = () => {};
  #entries = new Map<string, Stored>();
  #version = 0;
  #transactions: Transaction[] = [];
  #frozenUntil = 0;

  constructor(
    readonly scheduler: Scheduler,
    /** A fault on purpose: the clock is read before the locks are held. */
    readonly readsClockEarly: boolean,
  ) {}

  /** µs since 1970, by its own clock. */
  get clock(): number {
    return EPOCH * 1000 + this.scheduler.now + this.skew;
  }

  /** A request has arrived: it runs now, or when the server runs again. */
  serve(work: () => void): void {
    if (this.scheduler.now < this.#frozenUntil) this.scheduler.at(this.#frozenUntil, () => this.serve(work));
    else if (this.up) work();
  }

  freeze(micros: number): void {
    this.#frozenUntil = this.scheduler.now + micros;
  }

  /** The entries of these keys, and their versions. */
  read(keys: readonly string[]): { open: OpenKeys; versions: readonly number[]; era: number } {
    const entries = new Map<string, KeptEntry>();
    for (const key of keys) {
      const one = this.#entries.get(key);
      if (one !== undefined) entries.set(key, one);
    }
    const versions = keys.map((key) => this.#entries.get(key)?.version ?? 0);
    return { open: { now: this.clock, entries }, versions, era: this.era };
  }

  /**
   * Locks the keys. Calls `begun` when it holds them all.
   * @param earlier its clock when the client began
   */
  lock(
    peer: Peer,
    keys: readonly string[],
    earlier: number,
    begun: (transaction: Transaction) => void,
  ): void {
    const transaction: Transaction = {
      ...{ peer, keys, open: false, now: earlier, era: this.era },
      begin: () => {
        transaction.open = true;
        transaction.era = this.era;
        if (!this.readsClockEarly) transaction.now = this.clock;
        this.scheduler.at(this.scheduler.now + IDLE, () => this.end(transaction));
        begun(transaction);
      },
    };
    this.#transactions.push(transaction);
    this.#grantLocks();
  }

  #grantLocks(): void {
    const taken = new Set<string>();
    for (const one of [...this.#transactions]) {
      const free = one.keys.every((key) => !taken.has(key));
      for (const key of one.keys) taken.add(key);
      if (free && !one.open) one.begin();
    }
  }

  isOpen(transaction: Transaction): boolean {
    return this.#transactions.includes(transaction);
  }

  end(transaction: Transaction): void {
    if (!this.isOpen(transaction)) return;
    this.#transactions = this.#transactions.filter((one) => one !== transaction);
    this.#grantLocks();
  }

  /** Keeps a turn. */
  keep(
    peer: Peer,
    open: OpenKeys,
    era: number,
    { changed, grants }: Changes,
    decided: readonly Decided[],
    granted?: readonly (readonly [string, number])[],
  ): void {
    this.keeping({ process: peer.process, open, changed, decided });
    for (const one of changed) {
      this.#version += 1;
      if (one.entry === undefined) this.#entries.delete(one.key);
      else this.#entries.set(one.key, { ...one, version: this.#version });
    }
    for (const { call, answer } of decided) {
      const kept = { call, answer, process: peer.process, at: this.scheduler.now, era };
      this.log.push(kept);
      this.heard(kept);
    }
    if (!grants) return;
    for (const other of this.peers) if (granted !== undefined || other !== peer) other.granted(granted);
  }

  /** A connection is lost: its transactions end. */
  lost(peer: Peer): void {
    for (const one of this.#transactions.filter((each) => each.peer === peer)) this.end(one);
  }

  sweep(): void {
    for (const [key, { expires }] of this.#entries) if (expires <= this.clock) this.#entries.delete(key);
  }

  /** All that it keeps now, for a replica that will be behind. */
  snapshot(): ReadonlyMap<string, KeptEntry> {
    return new Map(this.#entries);
  }

  /** It starts again with other entries. */
  restart(entries: ReadonlyMap<string, KeptEntry>): void {
    this.era += 1;
    this.#transactions = [];
    this.#entries = new Map();
    for (const [key, entry] of entries) {
      this.#version += 1;
      this.#entries.set(key, { ...entry, version: this.#version });
    }
  }

  jump(micros: number): void {
    this.jumps.push(micros);
    this.era += 1;
    this.skew += micros;
  }

  get transactions(): number {
    return this.#transactions.length;
  }
}

export type { Transaction };
