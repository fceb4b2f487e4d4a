import { fixedWindow, gcra, tokenBucket } from '../../../packages/core/src/index.js';
import { StoreHarness, type StoreKind } from './harness.js';

/** What processes that call at the same moment share. After the tests of Better Auth (CVE-2026-110861), and after the TCK of bucket4j. */
export function concurrentContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);
  const policies = {
    fixedWindow: fixedWindow({ limit: 5, window: '1h' }),
    tokenBucket: tokenBucket({ capacity: 5, refill: 5, every: '1h' }),
    gcra: gcra({ limit: 5, period: '1h', burst: 5 }),
  };

  /** Limiters of four processes. */
  const processes = (policy: (typeof policies)[keyof typeof policies]) => {
    const first = harness.limiter(policy);
    const others = Array.from({ length: 3 }, () =>
      harness.limiter(policy, { name: first.name, store: harness.another() }),
    );
    return [first, ...others];
  };

  test.each(Object.entries(policies))('%s: of 20 calls at once, five are admitted', async (_, policy) => {
    const calls = processes(policy).flatMap((limiter) =>
      Array.from({ length: 5 }, () => limiter.consume('k')),
    );
    const admitted = (await Promise.all(calls)).filter(({ allowed }) => allowed);
    expect(admitted.length).toBe(5);
    expect(admitted.map(({ remaining }) => remaining).sort()).toEqual([0, 1, 2, 3, 4]);
  });

  test.each(Object.entries(policies))(
    'CVE-2026-110861: calls at once take the last permit once, %s',
    async (_, policy) => {
      const all = processes(policy);
      for (let round = 0; round < 5; round += 1) {
        expect(await all[0]!.consume(`k${round}`, { cost: 4 })).toMatchObject({
          allowed: true,
          remaining: 1,
        });
        const decisions = await Promise.all(all.map((limiter) => limiter.consume(`k${round}`)));
        expect(decisions.filter(({ allowed }) => allowed).length).toBe(1);
      }
    },
  );

  test.each(Object.entries(policies))('%s: refunds and calls at once lose no permit', async (_, policy) => {
    const all = processes(policy);
    const holding = async (limiter: (typeof all)[number]): Promise<number> => {
      let admitted = 0;
      for (let call = 0; call < 10; call += 1) {
        const decision = await limiter.consume('k');
        if (!decision.allowed) continue;
        admitted += 1;
        await limiter.refund(decision);
      }
      return admitted;
    };
    const admitted = await Promise.all(all.map(holding));
    expect(Math.max(...admitted)).toBe(10); // at most four permits are out at once
    expect(await all[0]!.peek('k')).toMatchObject({ allowed: true, remaining: 5 });
  });
}
