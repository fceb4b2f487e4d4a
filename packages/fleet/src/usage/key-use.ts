import { HASHES, type SampledPolicy, type SampleSummary, STEPS, UNUSED } from './key-sample.js';

/** How much of a policy its keys used. */
export interface PolicyUse {
  /** Its name in the limiter; undefined for a single policy. */
  readonly policy: string | undefined;
  /** Keys that met it. */
  readonly keys: number;
  /**
   * Quantiles of the keys' peaks: the share of the limit that a key used at most, 1 for all of it. Kept in half percents; `max` is of all
   * keys.
   */
  readonly use: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };
}

/** How many keys a limiter decided, and how much they used. With more than 1,024 keys both are computed from a sample of the keys. */
export interface KeyUse {
  /** Different keys. */
  readonly keys: number;
  /**
   * Standard error of `keys`, as a share of them: 0 without a sample, otherwise about 0.03. A quantile may be one whose rank differs by half
   * of it.
   */
  readonly error: number;
  readonly policies: readonly PolicyUse[];
}

export function keyUseOf({ theta, hashes, policies }: SampleSummary): KeyUse {
  const share = theta / HASHES;
  const keysOf = (sampled: number) => Math.round(sampled / share);
  return {
    keys: keysOf(hashes.length),
    error: hashes.length === 0 ? 0 : Math.sqrt((1 - share) / hashes.length),
    policies: policies.map((one) => policyUse(one, keysOf)),
  };
}

function policyUse({ policy, max, peaks }: SampledPolicy, keysOf: (sampled: number) => number): PolicyUse {
  const used = peaks.filter((peak) => peak !== UNUSED).sort((one, other) => one - other);
  const quantile = (share: number) => (used[Math.max(0, Math.ceil(share * used.length) - 1)] ?? 0) / STEPS;
  return {
    policy: policy === '' ? undefined : policy,
    keys: keysOf(used.length),
    use: { p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99), max: max / STEPS },
  };
}
