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

const POLICY = /^[\w.:/@#+-]{0,300}$/;

/** Other programs may have written it. @returns undefined if it is no sample */
export function parseSample({
  theta,
  hashes,
  policies,
}: Readonly<Record<string, unknown>>): SampleSummary | undefined {
  const isTheta = typeof theta === 'number' && Number.isInteger(theta) && theta > 0 && theta <= HASHES;
  if (!isTheta || typeof hashes !== 'string' || !Array.isArray(policies)) return undefined;
  const bytes = Buffer.from(hashes, 'base64');
  const size = bytes.length / 4;
  if (!Number.isInteger(size) || size > SAMPLE || policies.length > MOST_POLICIES) return undefined;
  const read = Array.from({ length: size }, (_, i) => bytes.readUInt32BE(4 * i));
  if (read.some((hash, i) => hash >= theta || (i > 0 && hash <= read[i - 1]!))) return undefined;
  const known = policies.map((given: Readonly<Record<string, unknown>> | null) => {
    const { policy, max, peaks } = given ?? {};
    if (typeof policy !== 'string' || !POLICY.test(policy) || typeof peaks !== 'string') return undefined;
    const list = [...Buffer.from(peaks, 'base64')];
    const isUse = (use: unknown) =>
      typeof use === 'number' && Number.isInteger(use) && use >= 0 && use <= STEPS;
    if (list.length !== size || !list.every((peak) => peak === UNUSED || isUse(peak)) || !isUse(max))
      return undefined;
    return { policy, max: max as number, peaks: list };
  });
  const valid = known.filter((one) => one !== undefined);
  const names = new Set(valid.map(({ policy }) => policy));
  return names.size === policies.length ? { theta, hashes: read, policies: valid } : undefined;
}
