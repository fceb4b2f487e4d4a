import { type Decision, fixedWindow, type RateLimiter } from '../../../packages/core/src/index.js';
import { Messages } from '../../support/messages.js';
import { uniqueName } from '../../support/redis-url.js';
import { HOUR, policiesOf, rejection, StoreHarness, type StoreKind } from './harness.js';

const MINUTE = 60_000;
const DAY = 24 * HOUR;
const escalate = { after: 3, within: '1h', block: ['1m', '10m', '1d'], forgive: '1d' } as const;

/** Repeated denials block a key, longer each time. */
export function escalatingContract(kind: StoreKind): void {
  const harness = new StoreHarness(kind);
  /** Nothing comes back for as long as a test lasts. */
  const once = fixedWindow({ limit: 1, window: '300d' });

  const denials = async (limiter: RateLimiter, count: number, key = 'k'): Promise<Decision[]> => {
    const denied: Decision[] = [];
    for (let i = 0; i < count; i += 1) denied.push(await limiter.consume(key));
    return denied;
  };
  /** Uses up the limit. */
  const spent = async (options = {}, policy = once) => {
    const limiter = harness.limiter(policy, { escalate, ...options });
    await limiter.consume('k', { cost: 1 });
    return limiter;
  };
  const blocks = (decisions: readonly Decision[]) => decisions.map(({ blockedFor = 0 }) => blockedFor);

  describe.each(policiesOf(kind))('%s', (name, policyOf) => {
    test('every third denial within an hour blocks the key: for a minute, then ten, then an hour each time', async () => {
      // No permit comes back meanwhile.
      const limiter = harness.limiter(policyOf(name === 'concurrency' ? '1d' : '300d'), {
        escalate: { ...escalate, block: ['1m', '10m', '1h'] },
      });
      const taken = await limiter.consume('k', { cost: 10 });
      const messages = new Messages(limiter.name, { channels: ['sluice:escalated'] });
      for (const [step, wait] of [MINUTE, 10 * MINUTE, HOUR, HOUR].entries()) {
        const decisions = await denials(limiter, 3);
        expect(decisions.every(({ allowed }) => !allowed)).toBe(true);
        expect(blocks(decisions)).toEqual([0, 0, wait]);
        expect(messages.on('sluice:escalated').at(-1)).toEqual({
          limiter: limiter.name,
          policy: limiter.name,
          key: 'k',
          step: Math.min(step + 1, 3),
          blockedFor: wait,
        });
        await harness.clock.advance(wait);
      }
      messages.stop();
      expect(messages.log).toHaveLength(4);
      await limiter.release(taken);
    });

    test('a block denies calls that the policy would allow, and ends to the millisecond', async () => {
      const limiter = harness.limiter(policyOf('1h'), {
        escalate: { ...escalate, block: '3d', within: '1d' },
      });
      const taken = await limiter.consume('k', { cost: 10 });
      const [, , third] = await denials(limiter, 3);
      expect(third).toMatchObject({ allowed: false, retryAfter: 3 * DAY, blockedFor: 3 * DAY });
      await limiter.release(taken);
      await harness.clock.advance('2d');
      expect(await limiter.consume('k')).toMatchObject({ allowed: false, retryAfter: DAY, blockedFor: DAY });
      expect((await limiter.peek('k')).blockedFor).toBe(DAY);
      await harness.clock.advance(DAY - 1);
      expect((await limiter.consume('k')).allowed).toBe(false);
      await harness.clock.advance(1);
      expect(await limiter.consume('k')).toMatchObject({ allowed: true });
      expect(await limiter.consume('other')).not.toHaveProperty('blockedFor');
    });
  });

  test('only denials within the configured time count together', async () => {
    const limiter = await spent();
    await denials(limiter, 2);
    await harness.clock.advance('1h');
    expect(blocks(await denials(limiter, 2))).toEqual([0, 0]);
    await harness.clock.advance(HOUR - 1);
    expect(blocks(await denials(limiter, 1))).toEqual([MINUTE]);
  });

  test('calls during a block do not lengthen it', async () => {
    const limiter = await spent();
    await denials(limiter, 3);
    await harness.clock.advance('30s');
    expect(blocks(await denials(limiter, 20)).every((left) => left === MINUTE / 2)).toBe(true);
    await harness.clock.advance('30s');
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, 10 * MINUTE]);
  });

  test('a key starts from the first step a day after its last block or counted denial', async () => {
    const limiter = await spent();
    await denials(limiter, 3);
    await harness.clock.advance('1m');
    await denials(limiter, 1);
    await harness.clock.advance(DAY - 1);
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, 10 * MINUTE]);
    await harness.clock.advance(10 * MINUTE + DAY);
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, MINUTE]);
  });

  test('peeks, shadow calls, impossible costs and penalties do not count', async () => {
    const limiter = await spent();
    for (let i = 0; i < 5; i += 1) {
      expect((await limiter.peek('k')).allowed).toBe(false);
      expect((await limiter.consume('k', { shadow: true })).allowed).toBe(false);
      expect((await limiter.consume('k', { cost: 2 })).retryAfter).toBe(Number.POSITIVE_INFINITY);
      await limiter.penalty('k');
    }
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, MINUTE]);
    expect((await limiter.consume('k', { shadow: true })).allowed).toBe(false);
  });

  test('an acquire that is denied counts, and one that is booked does not', async () => {
    const limiter = harness.limiter(fixedWindow({ limit: 1, window: '1h' }), { escalate });
    await limiter.consume('k');
    for (const blockedFor of [undefined, undefined, MINUTE]) {
      const error = await rejection(limiter.acquire('k', { timeout: '1m' }));
      expect((error as { decision: Decision }).decision.blockedFor).toBe(blockedFor);
    }
    const booked = limiter.acquire('k', { timeout: '2h' });
    await harness.answered(limiter);
    await harness.clock.advance('1h');
    expect((await booked).waited).toBe(HOUR);
    expect((await limiter.consume('k')).blockedFor).toBeUndefined();
  });

  test('each policy counts what it denies, and the block of one denies all', async () => {
    const both = { first: once, second: fixedWindow({ limit: 6, window: '300d' }) };
    const limiter = harness.limiter(both, { escalate });
    const messages = new Messages(limiter.name, { channels: ['sluice:escalated'] });
    await limiter.consume('k', { cost: { first: 1, second: 0 } });
    await denials(limiter, 2);
    await limiter.consume('k', { cost: { first: 0, second: 6 } });
    // The second policy alone denies twice; then both do: the third denial of each.
    for (let i = 0; i < 2; i += 1) await limiter.consume('k', { cost: { first: 0, second: 1 } });
    expect(await limiter.consume('k')).toMatchObject({ allowed: false, blockedFor: MINUTE });
    expect(messages.on('sluice:escalated').map(({ policy }) => policy)).toEqual(['first', 'second']);
    expect(await limiter.consume('k', { cost: { first: 0, second: 0 } })).toMatchObject({ allowed: false });
    messages.stop();
  });

  test('unblock ends the block and keeps the step; reset forgets everything', async () => {
    const limiter = await spent();
    await denials(limiter, 3);
    await limiter.unblock('k');
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, 10 * MINUTE]);
    await limiter.reset('k');
    expect((await limiter.consume('k')).allowed).toBe(true);
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, MINUTE]);
  });

  test('a key with an override, a manual block, refunds or rewards escalates as others do', async () => {
    const limiter = await spent();
    await denials(limiter, 2);
    await limiter.override('k', fixedWindow({ limit: 2, window: '300d' }), { expiresIn: '200d' });
    const second = await limiter.consume('k');
    expect(second.allowed).toBe(true);
    expect(blocks(await denials(limiter, 1))).toEqual([MINUTE]);
    await harness.clock.advance('1m');
    await limiter.refund(second);
    expect((await limiter.consume('k')).allowed).toBe(true);
    await limiter.reward('k', 1);
    expect((await limiter.consume('k')).allowed).toBe(true);
    await denials(limiter, 1);
    await limiter.block('k', '2m');
    expect(blocks(await denials(limiter, 5))).toEqual(Array(5).fill(2 * MINUTE));
    await harness.clock.advance('2m');
    expect(blocks(await denials(limiter, 2))).toEqual([0, 10 * MINUTE]);
  });

  test('changed options apply to the denials counted before: fewer denials, other blocks, another time to forgive', async () => {
    const name = uniqueName('deploy');
    const old = await spent({ name });
    await denials(old, 3);
    await harness.clock.advance('1m');
    await denials(old, 2);
    const second = { after: 2, within: '2h', block: ['5s', '7m'], forgive: '3d' } as const;
    const limiter = harness.limiter(once, { name, escalate: second });
    expect(blocks(await denials(limiter, 1))).toEqual([7 * MINUTE]);
    await harness.clock.advance('7m');
    expect(blocks(await denials(harness.limiter(once, { name, escalate }), 3))).toEqual([0, 0, DAY]);
  });

  test('a process without the option honours a block, and leaves counted denials as they are', async () => {
    const name = uniqueName('rolling');
    const limiter = await spent({ name });
    const old = harness.limiter(once, { name, store: harness.another(), escalate: false });
    await denials(limiter, 2);
    expect(await old.consume('k')).toMatchObject({ allowed: false });
    expect(await old.consume('k')).not.toHaveProperty('blockedFor');
    expect(blocks(await denials(limiter, 1))).toEqual([MINUTE]);
    expect(await old.consume('k')).toMatchObject({ allowed: false });
    await harness.clock.advance('1m');
    await old.penalty('k');
    await old.unblock('k');
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, 10 * MINUTE]);
  });

  test('a clock that steps back keeps counted denials, and does not lengthen a block', async () => {
    const limiter = await spent();
    await denials(limiter, 2);
    harness.clock.set(harness.clock.now() - 40 * DAY * 1000);
    expect(blocks(await denials(limiter, 1))).toEqual([MINUTE]);
    harness.clock.set(harness.clock.now() - 40 * DAY * 1000);
    // The block keeps its distance from now.
    expect((await limiter.peek('k')).blockedFor).toBe(MINUTE);
    await harness.clock.advance('1m');
    expect(blocks(await denials(limiter, 3))).toEqual([0, 0, 10 * MINUTE]);
  });

  test('many calls at once escalate exactly one step', async () => {
    const name = uniqueName('race');
    await spent({ name });
    const fleet = Array.from({ length: 5 }, () =>
      harness.limiter(once, { name, store: harness.another(), escalate }),
    );
    const messages = new Messages(name, { channels: ['sluice:escalated'] });
    const calls = fleet.flatMap((limiter) => Array.from({ length: 20 }, () => limiter.consume('k')));
    const decisions = await Promise.all(calls);
    messages.stop();
    expect(messages.on('sluice:escalated')).toMatchObject([{ step: 1, blockedFor: MINUTE }]);
    expect(blocks(decisions).filter((left) => left === MINUTE)).toHaveLength(98);
  });
}
