import { type StoreConfigurationError, type StoreUnavailableError, systemClock } from '@sluice/core';
import {
  boardKey,
  clearTimeout,
  type DenialFeed,
  type FleetBoard,
  type FleetKind,
  type FleetNote,
  type Follower,
  Followers,
  INDEX,
  MOST_BYTES,
  MOST_PROCESSES,
  newProcess,
  PROCESS,
  setTimeout,
  unread,
  unref,
} from '@sluice/core/internal';
import { type KeptEntry, liveAt, type OpenKeys, textAt } from './entry-table.js';
import type { ChangeEntries } from './table-in-use.js';

/** ms between two looks of a follower. */
const LOOK = 500;
/** ms for which what was broadcast can be read, and for which a follower counts after its last look. */
const KEPT = 5_000;
/** It has an entry while a process follows. */
const FOLLOWED = 'sluice:v2:fleet:followed';

/** What a process broadcast in the last seconds: µs of the store's clock, each later than the one before, and the texts. */
type Said = readonly (readonly [at: number, text: string])[];

/** An entry of an index: when a process published, and until when that counts, µs. */
interface Listed {
  readonly process: string;
  readonly at: number;
  readonly until: number;
}

/** The board of a table: an entry for each text, and one for the index of a kind. Followers look again and again. */
export class TableBoard implements FleetBoard {
  readonly process = newProcess();
  readonly followers = new Followers();
  feed: DenialFeed | undefined;
  closed = false;
  readonly #change: ChangeEntries;
  readonly #wasUsed: () => boolean;
  #looking: NodeJS.Timeout | undefined;
  /** When the latest text that it has received of each process was broadcast, and when it began to follow; µs. */
  #received = new Map<string, number>();
  #since: number | undefined;
  /** Why it cannot follow, if it cannot. */
  #lostFor: string | undefined;

  /** @param wasUsed was the store used? Before, nothing is published */
  constructor(
    change: ChangeEntries,
    readonly announces: boolean,
    wasUsed: () => boolean,
  ) {
    this.#change = change;
    this.#wasUsed = wasUsed;
  }

  publish(kind: FleetKind, text: string, ttl: number): Promise<boolean> {
    return this.#tryChange(keysOf(kind, this.process), (open) => this.#noted(open, kind, text, ttl));
  }

  async read(kind: FleetKind): Promise<readonly FleetNote[]> {
    const { now, listed, texts } = await this.#read(kind);
    return listed.map(({ process, at }, i) => {
      const bytes = Buffer.byteLength(texts[i]!);
      if (bytes > MOST_BYTES) return unread(process, `it has ${bytes} bytes`);
      return { process, age: Math.max(0, Math.floor((now - at) / 1000)), text: texts[i]! };
    });
  }

  async broadcast(text: string): Promise<boolean> {
    const { process, followers, announces } = this;
    if (text !== '')
      followers.received({
        process,
        time: Math.floor(systemClock.now() / 1000),
        text,
      });
    let followed = false;
    if (announces)
      await this.#tryChange([FOLLOWED, ...keysOf('denials', process)], (open) => {
        followed = liveAt(open, FOLLOWED) !== undefined;
        return followed && text !== '' ? this.#said(open, text) : [];
      });
    return followers.any || followed;
  }

  follow(follower: Follower): () => void {
    if (this.closed) return () => {};
    const remove = this.followers.add(follower);
    this.#looking ??= unref(setTimeout(this.#look, 0));
    return () => {
      remove();
      if (!this.followers.any) this.#endLooking();
    };
  }

  close(): void {
    this.closed = true;
    this.feed?.close();
    this.followers.clear();
    this.#endLooking();
  }

  #endLooking(): void {
    clearTimeout(this.#looking);
    this.#looking = undefined;
    this.#since = undefined;
    this.#received.clear();
    this.#lostFor = undefined;
  }

  readonly #look = async (): Promise<void> => {
    const looking = this.#looking;
    try {
      await this.#receive(() => looking === this.#looking);
      if (looking !== this.#looking) return;
      if (this.#lostFor !== undefined) this.followers.resumed();
      this.#lostFor = undefined;
    } catch (given) {
      if (looking !== this.#looking) return;
      const error = given as StoreUnavailableError | StoreConfigurationError;
      if (this.#lostFor !== error.reason) this.followers.lost(error);
      this.#lostFor = error.reason;
    }
    if (looking === this.#looking) this.#looking = unref(setTimeout(this.#look, LOOK));
  };

  async #receive(goesOn: () => boolean): Promise<void> {
    const { now, listed, texts } = await this.#read('denials', true);
    if (!goesOn()) return;
    this.#since ??= now;
    const received = new Map<string, number>();
    listed.forEach(({ process }, i) => {
      const since = this.#received.get(process) ?? this.#since!;
      const said = saidIn(texts[i]!);
      received.set(process, Math.max(since, said.at(-1)?.[0] ?? 0));
      if (process === this.process) return;
      for (const [at, text] of said)
        if (at > since) this.followers.received({ process, time: Math.floor(at / 1000), text });
    });
    this.#received = received;
  }

  /** The texts of a kind with their entries of the index, the latest first. */
  async #read(kind: FleetKind | 'denials', follows = false) {
    let now = 0;
    let listed: Listed[] = [];
    let texts: readonly string[] = [];
    await this.#change([FOLLOWED, boardKey(kind, INDEX)], (open) => {
      now = open.now;
      listed = listedIn(open, kind)
        .sort((one, other) => other.at - one.at)
        .slice(0, MOST_PROCESSES);
      return follows ? [{ key: FOLLOWED, entry: Buffer.alloc(0), expires: now + KEPT * 1000 }] : [];
    });
    const keys = listed.map(({ process }) => boardKey(kind, process));
    if (keys.length > 0)
      await this.#change(keys, (open) => {
        texts = keys.map((key) => textAt(open, key));
        return [];
      });
    const isKept = (_: unknown, i: number) => texts[i] !== '';
    return { now, listed: listed.filter(isKept), texts: texts.filter(isKept) };
  }

  #said(open: OpenKeys, text: string): readonly KeptEntry[] {
    const before = saidIn(textAt(open, boardKey('denials', this.process)));
    const at = Math.max(open.now, (before.at(-1)?.[0] ?? 0) + 1);
    const said = [...before.filter((one) => one[0] > open.now - KEPT * 1000), [at, text] as const];
    while (said.length > 1 && JSON.stringify(said).length > MOST_BYTES) said.shift();
    return this.#noted(open, 'denials', JSON.stringify(said), KEPT);
  }

  /** A text of this process, and its entry of the index. */
  #noted(
    open: OpenKeys,
    kind: FleetKind | 'denials',
    text: string,
    ttl: number,
  ): readonly [KeptEntry, KeptEntry] {
    const { process } = this;
    const own = { process, at: open.now, until: open.now + ttl * 1000 };
    const all = [own, ...listedIn(open, kind).filter((one) => one.process !== process)];
    const index = all.map(({ process: whose, at, until }) => `${whose} ${at} ${until}`).join('\n');
    return [
      { key: boardKey(kind, process), entry: Buffer.from(text), expires: own.until },
      {
        key: boardKey(kind, INDEX),
        entry: Buffer.from(index),
        expires: Math.max(...all.map((one) => one.until)),
      },
    ];
  }

  /** @returns whether it was kept: decisions report outages */
  async #tryChange(...change: Parameters<ChangeEntries>): Promise<boolean> {
    if (this.closed || !this.#wasUsed()) return false;
    try {
      await this.#change(...change);
      return true;
    } catch {
      return false;
    }
  }
}

const keysOf = (kind: FleetKind | 'denials', process: string): string[] => [
  boardKey(kind, INDEX),
  boardKey(kind, process),
];

/** The processes of a kind whose texts count. */
function listedIn(open: OpenKeys, kind: FleetKind | 'denials'): Listed[] {
  return textAt(open, boardKey(kind, INDEX))
    .split('\n')
    .map((line) => line.split(' '))
    .map(([process = '', at, until]) => ({ process, at: Number(at), until: Number(until) }))
    .filter(({ process, at, until }) => PROCESS.test(process) && at >= 0 && until > open.now);
}

/** What an entry says, or nothing if others wrote it. */
function saidIn(text: string): Said {
  try {
    const said: unknown = JSON.parse(text || '[]');
    const isOne = (one: unknown): boolean =>
      Array.isArray(one) && Number.isSafeInteger(one[0]) && typeof one[1] === 'string';
    return Array.isArray(said) && said.every(isOne) ? said : [];
  } catch {
    return [];
  }
}
