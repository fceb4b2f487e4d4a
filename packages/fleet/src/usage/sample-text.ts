import { fieldsOf, listOf, textOf, unreadable, wholeOf } from '../checked-text.js';
import { HASHES, MOST_POLICIES, SAMPLE, type SampleSummary, STEPS, smallest, UNUSED } from './key-sample.js';

/** A sample of keys. */
export interface SampleText {
  readonly theta: number;
  /** Of four bytes each, in base64. */
  readonly hashes: string;
  /** The peaks are a byte each. */
  readonly policies: readonly { readonly policy: string; readonly max: number; readonly peaks: string }[];
}

/** @param most keys */
export function sampleText(sample: SampleSummary, most: number): SampleText {
  const { theta, hashes, policies } = smallest(sample, most);
  const bytes = Buffer.alloc(4 * hashes.length);
  hashes.forEach((hash, i) => {
    bytes.writeUInt32BE(hash, 4 * i);
  });
  return {
    theta,
    hashes: bytes.toString('base64'),
    policies: policies.map((one) => ({ ...one, peaks: Buffer.from(one.peaks).toString('base64') })),
  };
}

/** Characters of the text, without the names. */
export const sampleSize = ({ hashes, policies }: SampleSummary, most: number): number =>
  Math.ceil((Math.min(hashes.length, most) * (4 + policies.length) * 4) / 3);

/** Empty for a single policy. */
const POLICY = /^[\w.:/@#+-]{0,300}$/;

/** @param what the sample, for the error @throws Error if it is none */
export function parseSample(what: string, given: unknown): SampleSummary {
  const { theta, hashes, policies } = fieldsOf(what, given);
  const bytesOf = (text: unknown) => Buffer.from(textOf(what, text), 'base64');
  const bytes = bytesOf(hashes);
  const size = wholeOf(what, bytes.length / 4, SAMPLE);
  const read = Array.from({ length: size }, (_, i) => bytes.readUInt32BE(4 * i));
  const most = wholeOf(what, theta, HASHES);
  if (read.some((hash, i) => hash >= most || (i > 0 && hash <= read[i - 1]!))) throw unreadable(what);
  const known = listOf(what, policies, MOST_POLICIES).map((one) => {
    const { policy, max, peaks } = fieldsOf(what, one);
    const list = [...bytesOf(peaks)];
    if (list.length !== size || list.some((peak) => peak > STEPS && peak !== UNUSED)) throw unreadable(what);
    return { policy: textOf(what, policy, POLICY), max: wholeOf(what, max, STEPS), peaks: list };
  });
  if (most === 0 || new Set(known.map(({ policy }) => policy)).size < known.length) throw unreadable(what);
  return { theta: most, hashes: read, policies: known };
}
