import { START } from '../../support/timeline.js';
import { type Key, memorySide, persistentRedisSide, type Side } from './sides.js';
import { DAY, held, jumps, LIMIT, type Subject, subjects } from './subjects.js';

/** What happens to a key before the clock jumps. Each returns the moment at which it ends. */
const pasts: Record<string, (key: Key, subject: Subject) => Promise<number>> = {
  'used up at once': async (key) => {
    await takeAll(key, START);
    return START + 1;
  },
  'used up some time ago': async (key, { window }) => {
    await takeAll(key, START);
    return START + Math.floor(window * 0.6);
  },
  'used up in turn': async (key, { window }) => {
    let now = START;
    for (let i = 0; i < 2 * LIMIT; i += 1, now += Math.floor(window / 7)) await key.ask(now);
    return now;
  },
};

async function takeAll(key: Key, now: number): Promise<void> {
  let taken = 0;
  while ((await key.ask(now)).allowed) taken += 1;
  expect(taken).toBeGreaterThan(0);
}

let sides: Side[];
beforeAll(() => {
  sides = [memorySide(), persistentRedisSide()];
});
afterAll(() => Promise.all(sides.map((side) => side.close())));

describe.each(Object.entries(subjects))('%s', (name, subject) => {
  const { policy, window } = subject;
  const all = { operation: 'peek', cost: LIMIT } as const;
  const isEstimated = held.has(name);
  /** µs until the call passes for certain. A concurrency limit only estimates when a permit is released. */
  const lasting = ({ wait, parts: [part] }: Awaited<ReturnType<Key['ask']>>): number =>
    isEstimated ? part!.reset : wait;

  test.each(Object.entries(jumps))('a jump %s locks out for at most one window', async (_, jump) => {
    for (const side of sides) {
      for (const past of Object.values(pasts)) {
        const key = side.key(policy);
        const after = (await past(key, subject)) + jump;
        const wait = lasting(await key.ask(after, all));
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(window);

        // Denied calls meanwhile write the state again, and delay nothing.
        for (let now = after; now < after + wait; now += Math.ceil(wait / 5)) {
          expect(await key.ask(now, { cost: LIMIT })).toMatchObject({
            allowed: false,
            wait: isEstimated ? expect.any(Number) : after + wait - now,
          });
        }
        if (wait > 0) expect(await key.ask(after + wait - 1, all)).toMatchObject({ allowed: false, wait: 1 });
        expect(await key.ask(after + wait, { cost: LIMIT })).toMatchObject({ allowed: true });
      }
    }
  });

  test.each(Object.entries(jumps))(
    'after a jump %s permits come back one by one as in the policy',
    async (_, jump) => {
      for (const side of sides) {
        const key = side.key(policy);
        const after = (await pasts['used up in turn']!(key, subject)) + jump;
        // The key expires after a day. The bucket begins to fill at the next `consume`, not at a `peek`.
        if (name === 'tokenBucket, initial' && jump >= DAY) await key.ask(after, { cost: LIMIT });
        for (let wanted = 1; wanted <= LIMIT; wanted += 1) {
          const wait = lasting(await key.ask(after, { operation: 'peek', cost: wanted }));
          expect(await key.ask(after + wait, { operation: 'peek', cost: wanted })).toMatchObject({
            allowed: true,
          });
          expect(wait).toBeLessThanOrEqual(window);
        }
        expect((await key.ask(after + window, all)).parts[0]).toMatchObject({ remaining: LIMIT, reset: 0 });
      }
    },
  );
});
