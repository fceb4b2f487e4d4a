import { fixedWindow, ManualClock, memoryStore, RateLimiter } from '@sluice/core';
import { inspectKey } from '@sluice/fleet';
import { linesOf, stepOf } from './key-report.js';

test('a key report shows counted denials, the block by escalation, and when the key is forgiven', async () => {
  const escalate = { after: 2, within: '1h', block: ['1m', '10m'], forgive: '1d' } as const;
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const limiter = new RateLimiter({
    name: 'login',
    policy: fixedWindow({ limit: 1, window: '1h' }),
    store,
    escalate,
  });
  await limiter.consume('ann');
  const definition = {
    kind: 'limiter',
    name: 'login',
    keyPrefix: 'sluice',
    policies: limiter.policies,
    several: false,
    prefixes: { login: 'sluice:v2:fw:login:{' },
    suffix: '}',
    escalate,
  } as const;
  const lines = async () => {
    const { policies, now } = await inspectKey(store, definition, 'ann');
    return [
      stepOf(policies[0]!),
      ...linesOf(policies[0]!, now).filter((line) => /escal|forgiv|block/i.test(line)),
    ];
  };
  expect(await lines()).toEqual(['']);
  await limiter.consume('ann');
  expect(await lines()).toEqual(['', 'Escalation: 1 of 2 denials counted for the next block, of 1 min.']);
  await limiter.consume('ann');
  expect(await lines()).toEqual([
    ' by escalation, step 1 of 2',
    expect.stringMatching(
      /^Blocked by escalation, step 1 of 2: no call passes before it ends at .*, in 1 min\.$/,
    ),
    expect.stringMatching(/^Forgiven at .*, in 1 d 1 min, if no other denial counts\.$/),
  ]);
  await limiter.unblock('ann');
  expect(await lines()).toEqual([
    '',
    'Escalation: step 1 of 2 was taken; 0 of 2 denials counted for the next block, of 10 min.',
    expect.stringMatching(/^Forgiven at /),
  ]);
  await limiter.block('ann', '3h');
  expect((await lines())[1]).toMatch(/^Blocked: no call passes/);
  await limiter.close();
  await store.close();
});
