import { join } from 'node:path';
import { RateLimiter } from '../../../packages/core/src/index.js';
import { bundle } from '../../support/bundle.js';
import { merged } from '../../support/conformance/all.js';
import { bucket, units } from '../../support/conformance/oracle-parts.js';
import { SECOND } from '../../support/conformance/subject-parts.js';
import { farStore } from '../../support/far-store.js';
import { run } from '../../support/run.js';
import { runs } from '../../support/runs.js';
import { canPrefetch, isBucket, prefetchable } from './oracles.js';
import { noting, refused, type Spent } from './spent.js';

/** Processes prefetch permits from a distant store: the permits they spend obey the rule exactly. */
const WALKS = Number(process.env.SLUICE_EXACTNESS_WALKS ?? runs(5_000).numRuns);

let prefetch: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  prefetch = await bundle(join(__dirname, 'prefetch.ts'));
});
afterAll(() => prefetch.remove());

test.each(prefetchable)(
  '%s: permits spent later than they were taken exceed no bound',
  async (name) => {
    const args = [prefetch.file, name, String(Math.ceil(WALKS / 20))];
    const { ok, output } = await run(process.execPath, args, { timeoutMs: 600_000 });
    if (!ok) throw new Error(output);
    const count = JSON.parse(output);
    // Many permits come from blocks, and the limit is reached: a rule with one permit less must be violated.
    expect(count.here / count.spent).toBeGreaterThan(0.03);
    expect(count.found).toBeGreaterThan(WALKS / 80);
  },
  600_000,
);

/** Buckets of 1,000 permits, which flow back in a second. */
const buckets = Object.entries(merged(({ policies }) => policies)).flatMap(([name, policyOf]) => {
  const policy = policyOf('1s', 1_000);
  return isBucket(policy) && canPrefetch(policy) ? [{ name, policy }] : [];
});

test.each(buckets)(
  '$name: a block spent after the store has refilled and others took permits obeys the rule',
  async ({ policy }) => {
    const { perPermit, flow } = units(1_000, SECOND);
    const rule = bucket(1_000 * perPermit, 0, perPermit, flow, 1);
    const { store, clock } = farStore();
    const [early, late] = [1, 2].map(
      () => new RateLimiter({ name: 'last', policy, store, prefetch: { most: 100 } }),
    );
    const spent: Spent[] = [];
    const note = noting(spent, clock);
    for (let i = 0; i < 40; i += 1) await early!.consume('k').then(note);
    await clock.advance('99ms');
    while (await late!.consume('k').then(note)) {}
    const before = spent.length;
    while (await early!.consume('k').then(note)) {}
    const last = spent.slice(before);
    expect(last).toHaveLength(30);
    expect(new Set(last.map(({ source }) => source))).toEqual(new Set(['prefetch']));
    expect(refused(spent, rule)).toBeUndefined();
  },
);
