import type { Parameters, State } from '../algorithms/algorithm.js';

/** What a store keeps of a key: an algorithm's bare state, or an envelope while the key is blocked, overridden, booked or of a shared rate. */
export type Entry = State | Envelope;

/** Moments are µs of the store's clock; 0 where there is none. */
export interface Envelope {
  readonly state: State | undefined;
  /** Bookings: moment, cost, moment, cost, …, in the order of the moments. */
  readonly queue: readonly number[];
  /** The state after all bookings; `undefined` without any. */
  readonly queueEndState: State | undefined;
  /** Can a call get a moment before the last booking and delay none? Otherwise it queues behind the last. */
  readonly hasGaps: boolean;
  /** When this was written. A later moment than now shows that the clock went back. */
  readonly seen: number;
  readonly blockedUntil: number;
  /** Parameters in place of the policy's; empty without an override. */
  readonly override: Parameters;
  /** During an override: the state under the policy's own parameters, which decides again when the override ends. */
  readonly policyState: State | undefined;
  readonly overrideUntil: number;
  /** During an override, with bookings: when the state under the policy's own parameters expires after them. Redis keeps it as the TTL. */
  readonly policyEnd?: number | undefined;
  /** Of a shared rate: its version when this was written. */
  readonly rateVersion?: number | undefined;
}

/** A shared rate at the moment of a decision, as its store has it. */
export interface EffectiveRate {
  /** Changes with each setting of the rate: entries of another version expire. Not a time, because clocks go back. */
  readonly rateVersion: number;
  readonly parameters: Parameters;
}

export const isEnvelope = (entry: Entry): entry is Envelope => !Array.isArray(entry);

/** The moment (µs) at which an entry expires. */
export function expiryOf(entry: Entry): number {
  if (!isEnvelope(entry)) return entry[0]!;
  const { state, policyState, queueEndState, queue, blockedUntil, overrideUntil, policyEnd = 0 } = entry;
  const states = Math.max(state?.[0] ?? 0, policyState?.[0] ?? 0, queueEndState?.[0] ?? 0);
  return Math.max(states, queue.at(-2) ?? 0, blockedUntil, overrideUntil, policyEnd);
}

/**
 * Has the store forgotten the envelope by now? Memory may still have it. Bookings of an ended override count until they have expired under
 * the policy's own parameters, which only a decision knows.
 */
export function isForgotten(envelope: Envelope, now: number): boolean {
  const { override, queue } = envelope;
  return expiryOf(envelope) <= now && (override.length === 0 || queue.length === 0);
}

/** What a store keeps of a key. */
export interface StoredKey {
  /** The moment of the look, µs of the store's clock. */
  readonly now: number;
  readonly entry: Entry | undefined;
  /** Until the store forgets the key, ms; undefined if it keeps nothing. */
  readonly timeToLive: number | undefined;
}

/** The entry at the moment `now`; undefined once it has expired. */
export function keptAt(now: number, entry: Entry | undefined): StoredKey {
  const left = entry === undefined ? 0 : Math.ceil((expiryOf(entry) - now) / 1000);
  return left > 0 ? { now, entry, timeToLive: left } : { now, entry: undefined, timeToLive: undefined };
}

// First bytes, as in entry.lua.
const [MOMENT, ENVELOPE, OVERRIDDEN, SHARED] = [67, 69, 79, 83];

/** Sizes of the fixed part, bytes. */
const [ENVELOPE_SIZE, OVERRIDDEN_SIZE, SHARED_SIZE] = [57, 65, 9];

/**
 * Reads the reply of look.lua.
 * @throws RangeError if no version of this layout wrote the value
 */
export function storedKey(reply: unknown) {
  const [now, timeToLive, digits] = (reply as unknown[]).map(String) as [string, string, string];
  const entry = decodeEntry(Buffer.from(digits, 'hex'));
  return { now: Number(now), entry, timeToLive: entry === undefined ? undefined : Number(timeToLive) };
}

/**
 * Reads what Redis keeps of a key: the twin of `open_entry` in entry.lua, for tools that must not write.
 * @throws RangeError if no version of this layout wrote it
 */
export function decodeEntry(raw: Buffer): Entry | undefined {
  if (raw.length === 0) return undefined;
  if (raw[0] !== SHARED) return opened(raw, undefined);
  if (raw.length < SHARED_SIZE) throw foreign();
  const entry = raw.subarray(SHARED_SIZE);
  return entry.length === 0 ? undefined : opened(entry, raw.readDoubleBE(1));
}

function opened(raw: Buffer, rateVersion: number | undefined): Entry {
  if (raw[0] === MOMENT && raw.length % 8 === 0) return numbersOf(raw);
  const isOverridden = raw[0] === OVERRIDDEN;
  const size = isOverridden ? OVERRIDDEN_SIZE : ENVELOPE_SIZE;
  if ((raw[0] !== ENVELOPE && !isOverridden) || raw.length < size) throw foreign();
  const fixed = numbersOf(raw.subarray(1, ENVELOPE_SIZE));
  const [stateSize = 0, endSize = 0, queueSize = 0, hasGaps, seen = 0, blockedUntil = 0, overrideUntil = 0] =
    fixed;
  const policySize = isOverridden ? raw.readDoubleBE(ENVELOPE_SIZE) : 0;
  const sizes = [stateSize, endSize, queueSize, policySize];
  const total = sizes.reduce((sum, one) => sum + one, size);
  if (sizes.some((one) => !(one >= 0 && one % 8 === 0)) || total > raw.length) throw foreign();
  let from = size;
  const [state = [], queueEndState = [], queue = [], policyState = []] = sizes.map((length) => {
    from += length;
    return numbersOf(raw.subarray(from - length, from));
  });
  const override: Parameters = isOverridden ? numbersOf(raw.subarray(from)) : [];
  return {
    state: unlessEmpty(state),
    queue,
    queueEndState: unlessEmpty(queueEndState),
    hasGaps: hasGaps !== 0,
    seen,
    blockedUntil,
    override,
    policyState: unlessEmpty(policyState),
    overrideUntil,
    rateVersion,
  } satisfies Envelope;
}

/** What a store keeps of an entry: the twin of `entry_of` in entry.lua. */
export function encodeEntry(entry: Entry): Buffer {
  if (!isEnvelope(entry)) return packed(entry);
  const { state = [], queue, hasGaps, seen, blockedUntil, overrideUntil, override, rateVersion } = entry;
  const end = queue.length > 0 ? entry.queueEndState! : [];
  const sizes = [state, end, queue].map(({ length }) => 8 * length);
  const head = [...sizes, hasGaps ? 1 : 0, seen, blockedUntil, overrideUntil];
  const policyState = entry.policyState ?? [];
  const bytes =
    override.length === 0
      ? [Buffer.of(ENVELOPE), packed([...head, ...state, ...end, ...queue])]
      : [
          Buffer.of(OVERRIDDEN),
          packed([...head, 8 * policyState.length, ...state, ...end, ...queue, ...policyState, ...override]),
        ];
  if (rateVersion !== undefined) bytes.unshift(Buffer.of(SHARED), packed([rateVersion]));
  return Buffer.concat(bytes);
}

export function packed(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * numbers.length);
  numbers.forEach((one, i) => {
    bytes.writeDoubleBE(one, 8 * i);
  });
  return bytes;
}

const unlessEmpty = (state: State): State | undefined => (state.length === 0 ? undefined : state);

export function numbersOf(bytes: Buffer): number[] {
  if (bytes.length % 8 !== 0) throw foreign();
  const numbers = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleBE(i * 8));
  if (!numbers.every((one) => Number.isSafeInteger(one) && one >= 0)) throw foreign();
  return numbers;
}

const foreign = () => new RangeError('the key holds a foreign value, or one of another layout');
