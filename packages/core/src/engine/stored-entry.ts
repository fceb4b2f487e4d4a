import type { Parameters, State } from '../algorithms/algorithm.js';
import type { Entry, Envelope } from './entry.js';

// First bytes, as in entry.lua.
const [MOMENT, ENVELOPE, OVERRIDDEN, SHARED] = [67, 69, 79, 83];

type SevenNumbers = [number, number, number, number, number, number, number];

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
  const [stateSize, endSize, queueSize, hasGaps, seen, blockedUntil, overrideUntil] = numbersOf(
    raw.subarray(1, ENVELOPE_SIZE),
  ) as unknown as SevenNumbers;
  const policySize = isOverridden ? raw.readDoubleBE(ENVELOPE_SIZE) : 0;
  const sizes = [stateSize, endSize, queueSize, policySize];
  const total = sizes.reduce((sum, one) => sum + one, size);
  if (sizes.some((one) => !(one >= 0 && one % 8 === 0)) || total > raw.length) throw foreign();
  let from = size;
  const [state, queueEndState, queue, policyState] = sizes.map((length) => {
    from += length;
    return numbersOf(raw.subarray(from - length, from));
  }) as unknown as [State, State, readonly number[], State];
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

const unlessEmpty = (state: State): State | undefined => (state.length === 0 ? undefined : state);

function numbersOf(bytes: Buffer): number[] {
  if (bytes.length % 8 !== 0) throw foreign();
  const numbers = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleBE(i * 8));
  if (!numbers.every((one) => Number.isSafeInteger(one) && one >= 0)) throw foreign();
  return numbers;
}

const foreign = () => new RangeError('the key holds a foreign value, or one of another layout');
