import { asOne, checked, distinct, fields, list, type Reader, text, whole } from '../checked-text.js';
import {
  HASHES,
  MOST_POLICIES,
  SAMPLE,
  type SampledPolicy,
  type SampleSummary,
  STEPS,
  smallest,
  UNUSED,
} from './key-sample.js';

/** A sample in base64: hashes of four bytes each, and peaks of one. @param most keys */
export function sampleText(sample: SampleSummary, most: number) {
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

/** Numbers of `width` bytes each, in base64. */
const numbers =
  (width: 1 | 4): Reader<readonly number[]> =>
  (given, what) => {
    const bytes = Buffer.from(text()(given, what), 'base64');
    const size = whole(SAMPLE)(bytes.length / width, what);
    return Array.from({ length: size }, (_, i) => bytes.readUIntBE(width * i, width));
  };

const sampledPolicy = fields<SampledPolicy>({
  policy: text(POLICY),
  max: whole(STEPS),
  peaks: checked(numbers(1), (peaks) => peaks.every((peak) => peak <= STEPS || peak === UNUSED)),
});

const sample = fields<SampleSummary>({
  theta: checked(whole(HASHES), (theta) => theta > 0),
  hashes: numbers(4),
  policies: distinct(list(sampledPolicy, MOST_POLICIES), ({ policy }) => policy),
});

export const sampleReader: Reader<SampleSummary> = asOne(
  checked(
    sample,
    ({ theta, hashes, policies }) =>
      hashes.every((hash, i) => hash < theta && (i === 0 || hash > hashes[i - 1]!)) &&
      policies.every(({ peaks }) => peaks.length === hashes.length),
  ),
);
