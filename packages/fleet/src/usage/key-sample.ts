/** Keys of a sample. The number of all keys is then known with a standard error of 1/32. */
export const SAMPLE = 1_024;
/** Hashes are below. */
export const HASHES = 2 ** 32;
/** Parts of a limit in which its use is kept: half percents. */
export const STEPS = 200;
/** In place of a use: the key did not meet the policy. */
export const UNUSED = 255;
/** Policies of a limiter that are kept, the first ones. */
export const MOST_POLICIES = 16;

/** How much of a policy keys used, in `STEPS`. */
export interface SampledPolicy {
  /** Its name in the limiter; empty for a single policy. */
  readonly policy: string;
  /** Of all keys, also of those outside of the sample. */
  readonly max: number;
  /** The most that each sampled key used, in the order of `hashes`; or `UNUSED`. */
  readonly peaks: readonly number[];
}

/** A sample of the keys of a limiter: all whose hash is below `theta`. */
export interface SampleSummary {
  /** 1 to `HASHES`. */
  readonly theta: number;
  /** Ascending. */
  readonly hashes: readonly number[];
  readonly policies: readonly SampledPolicy[];
}

/**
 * A sample of the keys of a stream that is the same in every process: the keys with the smallest hashes (Dasgupta et al., "A Framework for
 * Estimating Stream Expression Cardinalities", 2016). Their number and the largest hash tell how many keys there are. Each has the most
 * that it used of each policy.
 */
export class KeySample {
  #theta = HASHES;
  /** What a key used of each policy, by its hash. */
  #peaks = new Map<number, number[]>();
  readonly #policies: string[] = [];
  readonly #max: number[] = [];

  /** @param share of the limit that the key uses now, 0 to 1 */
  add(hash: number, policy: string, share: number): void {
    let at = this.#policies.indexOf(policy);
    if (at < 0) {
      if (this.#policies.length === MOST_POLICIES) return;
      at = this.#policies.push(policy) - 1;
      this.#max.push(0);
    }
    const used = Math.round(share * STEPS);
    if (used > this.#max[at]!) this.#max[at] = used;
    if (hash >= this.#theta) return;
    let peaks = this.#peaks.get(hash);
    if (peaks === undefined) {
      // Rarely, because it halves the sample.
      if (this.#peaks.size === 2 * SAMPLE) this.#shrink();
      if (hash >= this.#theta) return;
      peaks = this.#policies.map(() => UNUSED); // as short as possible: `push` makes room for 16 more
      this.#peaks.set(hash, peaks);
    }
    while (peaks.length <= at) peaks.push(UNUSED);
    if (peaks[at] === UNUSED || used > peaks[at]!) peaks[at] = used;
  }

  get summary(): SampleSummary {
    const hashes = [...this.#peaks.keys()].sort((one, other) => one - other);
    const policies = this.#policies.map((policy, i) => {
      const peaks = hashes.map((hash) => this.#peaks.get(hash)![i] ?? UNUSED);
      return { policy, max: this.#max[i]!, peaks };
    });
    return smallest({ theta: this.#theta, hashes, policies }, SAMPLE);
  }

  #shrink(): void {
    this.#theta = [...this.#peaks.keys()].sort((one, other) => one - other)[SAMPLE]!;
    for (const hash of this.#peaks.keys()) if (hash >= this.#theta) this.#peaks.delete(hash);
  }
}

/** The sample with the `most` smallest hashes. */
export function smallest({ theta, hashes, policies }: SampleSummary, most: number): SampleSummary {
  if (hashes.length <= most) return { theta, hashes, policies };
  const kept = policies.map((one) => ({ ...one, peaks: one.peaks.slice(0, most) }));
  return { theta: hashes[most]!, hashes: hashes.slice(0, most), policies: kept };
}

/** One sample of several streams. A key may be in several of them: it used the most that one of them says. */
export function mergeSamples(samples: readonly SampleSummary[]): SampleSummary {
  const theta = samples.reduce((least, one) => Math.min(least, one.theta), HASHES);
  const below = samples.flatMap(({ hashes }) => hashes.filter((hash) => hash < theta));
  const hashes = [...new Set(below)].sort((one, other) => one - other);
  const places = new Map(hashes.map((hash, place) => [hash, place]));
  const merged = new Map<string, { policy: string; max: number; peaks: number[] }>();
  for (const sample of samples) {
    for (const { policy, max, peaks } of sample.policies) {
      const sum = merged.get(policy) ?? { policy, max, peaks: hashes.map(() => UNUSED) };
      merged.set(policy, sum);
      sum.max = Math.max(sum.max, max);
      peaks.forEach((peak, i) => {
        const place = places.get(sample.hashes[i]!);
        if (place === undefined || peak === UNUSED) return;
        const known = sum.peaks[place]!;
        sum.peaks[place] = known === UNUSED ? peak : Math.max(known, peak);
      });
    }
  }
  return smallest({ theta, hashes, policies: [...merged.values()] }, SAMPLE);
}

/** FNV-1a, mixed so that similar keys are spread. The same in every process, and stored nowhere longer than the counts. */
export function sampleHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
