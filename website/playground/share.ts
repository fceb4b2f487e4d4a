import { type AlgorithmName, fieldsOf, formOf, isAlgorithm, type PolicyForm } from './policies.ts';
import { PATTERNS, TRAFFIC, type TrafficForm } from './traffic.ts';

/** All that a link to the playground carries. */
export interface State {
  /** One policy, or two that are compared. */
  readonly policies: readonly PolicyForm[];
  readonly traffic: TrafficForm;
  /** Moments of clicks, ms from the start. */
  readonly clicks: readonly number[];
}

const TEXTS = ['rate', 'size', 'every', 'length', 'timeout', 'holds'] as const;
const PREFIXES = ['a', 'b'] as const;
const MOST_CLICKS = 500;

/** What the playground shows first, and what the page of an algorithm shows. */
export function stateOf(algorithm: AlgorithmName): State {
  const waits = algorithm === 'leakyBucket' || algorithm === 'concurrency';
  return { policies: [formOf(algorithm)], traffic: { ...TRAFFIC, waits }, clicks: [] };
}

/** The state as the part of a URL behind `#`. */
export function toHash({ policies, traffic, clicks }: State): string {
  const params = new URLSearchParams();
  policies.forEach(({ algorithm, values }, i) => {
    const prefix = PREFIXES[i]!;
    params.set(prefix, algorithm);
    for (const { name } of fieldsOf(algorithm)) {
      if (values[name]) params.set(`${prefix}.${name}`, values[name]);
    }
  });
  params.set('traffic', traffic.pattern);
  for (const name of TEXTS) if (traffic[name] !== TRAFFIC[name]) params.set(name, traffic[name]);
  if (traffic.waits) params.set('waits', 'yes');
  if (clicks.length > 0) params.set('clicks', clicks.join(','));
  return params.toString();
}

/** @returns undefined if the text is not the state of a playground */
export function fromHash(hash: string): State | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const policies = PREFIXES.flatMap((prefix) => {
    const algorithm = params.get(prefix);
    if (!isAlgorithm(algorithm)) return [];
    const values = fieldsOf(algorithm).map(({ name }) => [name, params.get(`${prefix}.${name}`) ?? '']);
    return [{ algorithm, values: Object.fromEntries(values) }];
  });
  if (policies.length === 0) return undefined;
  const pattern = PATTERNS.find((name) => name === params.get('traffic')) ?? TRAFFIC.pattern;
  const texts = TEXTS.map((name) => [name, params.get(name) ?? TRAFFIC[name]]);
  const clicks = (params.get('clicks') ?? '').split(',').map(Number).filter(Number.isInteger);
  return {
    policies,
    traffic: { ...TRAFFIC, ...Object.fromEntries(texts), pattern, waits: params.get('waits') === 'yes' },
    clicks: params.has('clicks') ? clicks.slice(0, MOST_CLICKS) : [],
  };
}
