import { KeySample, mergeSamples, SAMPLE, sampleHash } from './key-sample.js';
import { keyUseOf } from './key-use.js';

/** The highest use of each of `keys` keys: the square of its rank, so most keys use little. */
const peakOf = (i: number, keys: number) => ((i + 1) / keys) ** 2;

function sampled(from: number, to: number, keys: number) {
  const sample = new KeySample();
  for (let i = from; i < to; i += 1) {
    const hash = sampleHash(`user-${i}@example.com`);
    sample.add(hash, 'perMinute', peakOf(i, keys));
    sample.add(hash, 'perMinute', peakOf(i, keys) / 3);
  }
  return sample.summary;
}

test('a sample of up to 1,024 keys is exact', () => {
  const { keys, error, policies } = keyUseOf(sampled(0, SAMPLE, SAMPLE));
  expect([keys, error]).toEqual([SAMPLE, 0]);
  const half = (share: number) => Math.round(share * 200) / 200;
  const quantile = (share: number) => half(peakOf(Math.ceil(share * SAMPLE) - 1, SAMPLE));
  expect(policies).toEqual([
    {
      policy: 'perMinute',
      keys: SAMPLE,
      use: { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), max: 1 },
    },
  ]);
});

test.each([1_025, 2_049, 10_000, 100_000])('a sample of %i keys is within the stated error', (count) => {
  const summary = sampled(0, count, count);
  expect(summary.hashes.length).toBeLessThanOrEqual(SAMPLE);
  const { keys, error, policies } = keyUseOf(summary);
  expect(error).toBeLessThanOrEqual(1 / 32);
  expect(Math.abs(keys / count - 1)).toBeLessThanOrEqual(3 * error);
  const [{ use } = { use: undefined }] = policies;
  for (const [share, found] of [
    [0.5, use!.p50],
    [0.9, use!.p90],
    [0.99, use!.p99],
  ] as const) {
    const rank = Math.sqrt(found); // of `peakOf`
    expect(Math.abs(rank - share)).toBeLessThanOrEqual((3 * error) / 2 + 0.005);
  }
  expect(use!.max).toBe(1);
});

test('merged samples equal a sample of all keys', () => {
  const count = 20_000;
  const parts = [sampled(0, 9_000, count), sampled(6_000, 15_000, count), sampled(15_000, count, count)];
  const merged = mergeSamples(parts);
  expect(merged).toEqual(mergeSamples([mergeSamples(parts.slice(1)), parts[0]!]));
  const { keys, error, policies } = keyUseOf(merged);
  expect(Math.abs(keys / count - 1)).toBeLessThanOrEqual(3 * error);
  expect(Math.abs(Math.sqrt(policies[0]!.use.p50) - 0.5)).toBeLessThanOrEqual(2 * error);
  expect(keyUseOf(mergeSamples([]))).toEqual({ keys: 0, error: 0, policies: [] });
});

test('similar keys are spread over the sample, and the number of policy names is bounded', () => {
  const halves = [0, 0];
  for (let i = 0; i < 10_000; i += 1) halves[sampleHash(`10.0.${i >> 8}.${i & 255}`) >>> 31]! += 1;
  expect(Math.abs(halves[0]! - 5_000)).toBeLessThan(200);
  const sample = new KeySample();
  for (let i = 0; i < 100; i += 1) sample.add(i, `policy-${i}`, 1);
  expect(sample.summary.policies).toHaveLength(16);
});
