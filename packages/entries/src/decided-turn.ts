import { RateNotSetError } from '@sluice/core';
import {
  type Answer,
  type Call,
  decide,
  decideBare,
  decodeEntry,
  type Entry,
  ESCALATION_SUFFIX,
  type EscalationState,
  encodeEntry,
  expiryOf,
  KeyState,
  type Part,
  storageKey,
} from '@sluice/core/internal';
import type { Changes, KeptEntry, OpenKeys } from './entry-table.js';
import { type KeptRate, rateOf } from './kept-rate.js';

/** A waiting call that was admitted: the key at which it waits, and its id. */
export type Granted = readonly [key: string, id: number];

/** The keys of a script call: a shared rate has a key itself, and may have one for each client; an escalation has one. */
export const keysOf = ({ parts }: Pick<Call, 'parts'>): string[] =>
  parts.flatMap((part) => {
    const { shared, rule } = part.limit;
    const key = storageKey(part);
    if (shared !== undefined) return [key, shared.client, shared.config];
    return rule.escalation === undefined ? [key] : [key, key + ESCALATION_SUFFIX];
  });

/** Decides calls in order on the entries of open keys. Later calls see what earlier ones took. */
export class DecidedTurn {
  readonly granted: Granted[] = [];
  readonly #now: number;
  readonly #open: OpenKeys['entries'];
  /** Entries that were read or written. */
  readonly #known = new Map<string, Entry | undefined>();
  readonly #changed = new Map<string, KeptEntry>();

  constructor({ now, entries }: OpenKeys) {
    this.#now = now;
    this.#open = entries;
  }

  get changes(): Changes {
    return { changed: [...this.#changed.values()], grants: this.granted.length > 0 };
  }

  /** @throws RateNotSetError; RangeError for an entry that is not ours. Then the call has changed nothing */
  decide(call: Call): Answer {
    const key = storageKey(call.parts[0]!);
    const bare =
      call.parts.length > 1 || call.parts[0]!.limit.shared !== undefined
        ? undefined
        : decideBare(call, this.#read(key), this.#now);
    if (bare === undefined) return this.#decideAll(call);
    if (bare.changed) this.#write(key, bare.state);
    return bare.answer;
  }

  #decideAll(call: Call): Answer {
    const now = this.#now;
    const opened = call.parts.map((part) => this.#openPart(part));
    const answer = decide(
      call,
      opened.map(({ keyState }) => keyState),
    );
    opened.forEach(({ keyState, key, rate }, i) => {
      const { part, escalation } = keyState;
      if (keyState.keeps(call.operation)) this.#write(key, keyState.entry());
      if (keyState.escalated) this.#write(storageKey(part) + ESCALATION_SUFFIX, escalation);
      for (const id of keyState.granted) this.granted.push([storageKey(part), id]);
      if (rate !== undefined && call.operation !== 'peek')
        this.#use(part.limit.shared!.config, rate, Math.max(now, answer.parts[i]!.at));
    });
    return answer;
  }

  #openPart(part: Part) {
    const { shared, rule } = part.limit;
    const rate = shared && this.#rate(shared.config);
    if (shared !== undefined && rate === undefined) throw new RateNotSetError(shared.name);
    const key = rate?.perClient === 1 ? shared!.client : storageKey(part);
    const counted = rule.escalation && this.#read(storageKey(part) + ESCALATION_SUFFIX);
    const entry = this.#read(key);
    const keyState = new KeyState(part, entry, this.#now, rate, counted as EscalationState | undefined);
    return { keyState, key, rate };
  }

  #live(key: string): KeptEntry | undefined {
    const kept = this.#changed.get(key) ?? this.#open.get(key);
    return kept !== undefined && kept.expires > this.#now ? kept : undefined;
  }

  #read(key: string): Entry | undefined {
    if (this.#known.has(key)) return this.#known.get(key);
    const kept = this.#live(key);
    const entry = kept?.entry && decodeEntry(kept.entry);
    this.#known.set(key, entry);
    return entry;
  }

  #write(key: string, entry: Entry | undefined): void {
    this.#known.set(key, entry);
    const expires = entry === undefined ? 0 : expiryOf(entry);
    const isKept = entry !== undefined && expires > this.#now;
    if (isKept) this.#changed.set(key, { key, entry: encodeEntry(entry), expires });
    else if (this.#open.has(key)) this.#changed.set(key, { key, entry: undefined, expires: 0 });
    else this.#changed.delete(key);
  }

  #rate(config: string): KeptRate | undefined {
    const kept = this.#live(config);
    return kept && rateOf(kept);
  }

  /** Keeps the rate alive from its last use: now, or the moment for which a waiting call has booked its permits. */
  #use(config: string, { keepAlive }: KeptRate, moment: number): void {
    const kept = this.#live(config)!;
    const expires = Math.max(kept.expires, moment + keepAlive);
    if (expires > kept.expires) this.#changed.set(config, { ...kept, expires });
  }
}
