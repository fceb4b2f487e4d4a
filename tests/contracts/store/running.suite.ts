import { concurrency, fixedWindow, isLimiterClosedError } from '../../../packages/core/src/index.js';
import {
  nextWait,
  policiesOf,
  ratesOf,
  rejection,
  StoreHarness,
  type StoreKind,
  spaced,
  startWait,
} from './harness.js';

/** `schedule` and `wrap`, and `close`, which ends everything. */
export function runningContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);

  test("schedule runs a task when it gets its permits, and returns the task's result", async () => {
    const limiter = harness.limiter(fixedWindow({ limit: 1, window: '1h' }));
    expect(await limiter.schedule('k', () => 'at once')).toBe('at once');
    const later = limiter.schedule('k', async ({ decision }) => decision.waited);
    const failing = limiter.schedule('other', () => {
      throw new Error('its own');
    });
    await expect(failing).rejects.toThrow('its own');
    await harness.answered(limiter);
    await harness.clock.advance('1h');
    expect(await later).toBe(3_600_000);
    const refused = limiter.schedule('k', () => 'never', { timeout: '1m' });
    await expect(refused).rejects.toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED' });
    await expect(limiter.schedule('k', 'no function' as never)).rejects.toThrow(TypeError);
  });

  test('at most the limit of 20 scheduled tasks run at once, and all of them run', async () => {
    const limiter = harness.limiter(concurrency({ limit: 3, lease: '30m' }));
    const other = harness.limiter(concurrency({ limit: 3, lease: '30m' }), {
      name: limiter.name,
      store: harness.another(),
    });
    let running = 0;
    const most: number[] = [];
    const task = async () => {
      running += 1;
      most.push(running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      if (most.length % 5 === 0) throw new Error('every fifth fails');
    };
    const all = Array.from({ length: 20 }, (_, i) => [limiter, other][i % 2]!.schedule('k', task));
    await Promise.allSettled(all);
    expect(most).toHaveLength(20);
    expect(Math.max(...most)).toBe(3);
    expect(await limiter.peek('k')).toMatchObject({ remaining: 3, resetAfter: 0 });
  });

  test('wrap returns a function with the same name and this, which waits for its permits', async () => {
    const limiter = harness.limiter(fixedWindow({ limit: 2, window: '1h' }));
    const service = {
      greeting: 'hello',
      greet: limiter.wrap(
        function greet(this: { greeting: string }, who: string) {
          return `${this.greeting} ${who}`;
        },
        { key: (who) => who, timeout: 0 },
      ),
    };
    expect(service.greet.name).toBe('greet');
    expect(await service.greet('ann')).toBe('hello ann');
    expect(await service.greet('ann')).toBe('hello ann');
    await expect(service.greet('ann')).rejects.toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED' });
    expect(await service.greet('bob')).toBe('hello bob');
    const one = limiter.wrap(() => 1, { cost: 2 });
    expect(await one()).toBe(1);
    expect(await limiter.peek(limiter.name)).toMatchObject({ remaining: 0 });
  });

  test('wrap checks its options at once, and an error of its key function rejects the call', async () => {
    const limiter = harness.limiter(fixedWindow({ limit: 2, window: '1h' }));
    expect(() => limiter.wrap(() => 1, { kye: 'k' } as never)).toThrow("no option 'kye'");
    expect(() => limiter.wrap(5 as never)).toThrow('the task must be a function');
    expect(() => limiter.wrap(() => 1, { timeout: 'soon' })).toThrow(RangeError);
    const nameless = limiter.wrap(() => 1, {
      key: () => {
        throw new Error('no key');
      },
    });
    await expect(nameless()).rejects.toThrow('no key');
  });

  test.each(ratesOf(kind))(
    '%s: close rejects waiting calls and returns their permits',
    async (name, policyOf) => {
      const limiter = harness.limiter(policyOf('1h'));
      const leaks = spaced.has(name);
      await limiter.acquire('k', { cost: leaks ? 1 : 10 });
      const before = await limiter.peek('k');
      const wait = await nextWait(limiter, 'k', 1);
      const waits = Array.from({ length: 6 }, () => startWait(limiter, 'k', 1));
      await harness.answered(limiter);
      const under = Array.from({ length: 2 }, () => startWait(limiter, 'k', 1)); // the store has not answered these
      await limiter.close();
      await limiter.close();
      for (const { acquired } of [...waits, ...under])
        expect(isLimiterClosedError(await rejection(acquired))).toBe(true);
      const after = harness.limiter(policyOf('1h'), { name: limiter.name });
      expect({ ...(await after.peek('k')) }).toEqual({ ...before });
      expect(await nextWait(after, 'k', 1)).toBe(wait);
    },
  );

  test('close rejects calls that wait for held permits, and leaves nothing in the queue', async () => {
    const policy = concurrency({ limit: 1, lease: '30m' });
    const [holder, limiter] = [harness.limiter(policy), harness.limiter(policy)];
    const other = harness.limiter(policy, { name: holder.name });
    const held = await holder.acquire('k');
    const mine = await limiter.acquire('k');
    const waits = [startWait(other, 'k', 1), startWait(other, 'k', 1)];
    await harness.answered(other);
    const under = startWait(other, 'k', 1);
    await other.close();
    for (const { acquired } of [...waits, under])
      expect(isLimiterClosedError(await rejection(acquired))).toBe(true);
    await holder.release(held);
    expect(await holder.peek('k')).toMatchObject({ remaining: 1 });
    await limiter.close();
    await limiter.release(mine); // held permits can still be released
  });

  test.each(policiesOf(kind))('%s: every call of a closed limiter rejects', async (_, policyOf) => {
    const limiter = harness.limiter(policyOf('1h'));
    const decision = await limiter.consume('k');
    await limiter.close();
    const calls = [
      limiter.consume('k'),
      limiter.acquire('k'),
      limiter.peek('k'),
      limiter.reserve('k', 1),
      limiter.block('k', 1),
      limiter.unblock('k'),
      limiter.reset('k'),
      limiter.schedule('k', () => 1),
      limiter.removeOverride('k'),
      limiter.override('k', policyOf('1h'), { expiresIn: 1 }),
      limiter.wrap(() => 1)(),
    ];
    for (const call of calls) expect(isLimiterClosedError(await rejection(call))).toBe(true);
    await limiter.refund(decision);
    const after = harness.limiter(policyOf('1h'), { name: limiter.name });
    expect(await after.peek('k')).toMatchObject({ remaining: 10 });
  });
}
