import { hashKey, type UsageKeys } from '@sluice/core';
import { type FleetBoard, type FleetNote, VERSION } from '@sluice/core/internal';
import { CallCounter } from './call-counter.js';
import { readUsage } from './read-usage.js';
import { StoreUsage } from './store-usage.js';

const name = 'redis';

/** The text that a process publishes after these calls. */
async function published(
  calls: (counterOf: (limiter: string) => CallCounter) => void,
  keys: UsageKeys = 'plain',
  keyUse = false,
) {
  let text = '';
  const publish = async (_: string, given: string) => {
    text = given;
    return true;
  };
  const usage = new StoreUsage(keys, { publish } as Partial<FleetBoard> as FleetBoard, keyUse);
  calls((limiter) => new CallCounter(usage, limiter));
  await usage.publish();
  usage.close();
  return text;
}

function read(...notes: (string | FleetNote)[]) {
  const list = notes.map((note, i) =>
    typeof note === 'string' ? { process: `process-${i}`, age: 0, text: note } : note,
  );
  return readUsage({ name, fleet: { read: async () => list } as Partial<FleetBoard> as FleetBoard });
}

const deny = (counter: CallCounter, key: string, times = 1, policy?: string) => {
  for (let i = 0; i < times; i += 1) {
    counter.count('denied', false);
    counter.denied(key, false, policy);
  }
};
/** Fills a summary: each of its 256 keys has at least this count. */
const fill = (counter: CallCounter, times: number) => {
  for (let i = 0; i < 256; i += 1) deny(counter, `filler-${i}`, times);
};

test('readUsage adds the counts of all processes', async () => {
  const one = await published((counterOf) => {
    deny(counterOf('api'), 'ann', 5);
    counterOf('login').took('bob', 3);
  });
  const other = await published((counterOf) => {
    deny(counterOf('api'), 'ann', 2);
    deny(counterOf('api'), 'eve', 4);
  });
  const { limiters, processes, refused, keys } = await read(one, other);
  expect(limiters.map(({ limiter, denied, costly }) => [limiter, denied, costly])).toEqual([
    [
      'api',
      [
        { key: 'ann', count: 7, error: 0 },
        { key: 'eve', count: 4, error: 0 },
      ],
      [],
    ],
    ['login', [], [{ key: 'bob', count: 3, error: 0 }]],
  ]);
  expect(limiters[0]!.decisions.denied.slice(-2)).toEqual([0, 11]);
  expect(limiters[0]!.decisions.denied).toHaveLength(90);
  expect(processes).toEqual([
    { process: 'process-0', version: VERSION, host: expect.any(String), pid: process.pid, age: 0 },
    { process: 'process-1', version: VERSION, host: expect.any(String), pid: process.pid, age: 0 },
  ]);
  expect([refused, keys]).toEqual([[], 'plain']);
});

test('a key has the policy of the process that denied it most', async () => {
  const one = await published((counterOf) => {
    deny(counterOf('api'), 'ann', 3, 'perHour');
    deny(counterOf('api'), 'bob', 1, 'perDay');
  });
  const other = await published((counterOf) => deny(counterOf('api'), 'ann', 2, 'perDay'));
  const older = await published((counterOf) => deny(counterOf('api'), 'ann', 9));
  const { limiters, refused } = await read(other, older, one);
  expect(refused).toEqual([]);
  expect(limiters[0]!.denied).toEqual([
    { key: 'ann', policy: 'perHour', count: 14, error: 0 },
    { key: 'bob', policy: 'perDay', count: 1, error: 0 },
  ]);
});

test('a text with long names of policies is bounded, too', async () => {
  const text = await published((counterOf) => {
    for (let i = 0; i < 10; i += 1)
      for (let k = 0; k < 256; k += 1) deny(counterOf(`api-${i}`), `${k}`, 1, `${k}`.padEnd(200, 'p'));
  });
  expect(text.length).toBeLessThanOrEqual(256_000);
  const { limiters, refused } = await read(text);
  expect([limiters.length, limiters[0]!.denied.length, refused]).toEqual([10, 64, []]);
});

test('the keys of the last minute are read from texts that are younger than a minute', async () => {
  const text = await published((counterOf) => deny(counterOf('api'), 'ann', 3), 'hash');
  const plain = await published((counterOf) => deny(counterOf('api'), 'ann', 4));
  const notes = [0, 59_000, 60_000].map((age) => ({ process: `p-${age}`, age, text }));
  const [api] = (await read(...notes, plain)).limiters;
  expect(api!.recentlyDenied).toEqual([{ key: hashKey('ann'), count: 10, error: 0 }]);
  expect(api!.denied).toEqual([{ key: hashKey('ann'), count: 13, error: 0 }]);
});

test('of many keys that were denied in a slot, a process lists the 16 heaviest', async () => {
  const text = await published((counterOf) => {
    for (let i = 0; i < 40; i += 1) deny(counterOf('api'), `few-${i}`);
    deny(counterOf('api'), 'ann', 100);
  });
  const { recentlyDenied } = (await read(text)).limiters[0]!;
  expect(recentlyDenied).toHaveLength(16);
  const [{ key, count, error } = { key: '', count: 0, error: 0 }] = recentlyDenied;
  expect([key, count - error]).toEqual(['ann', 100]);
  expect(error).toBeLessThanOrEqual(140 / 16);
});

test('a key that a process does not list may have the smallest listed count there', async () => {
  const one = await published((counterOf) => {
    fill(counterOf('api'), 2);
    deny(counterOf('api'), 'new');
  });
  const other = await published((counterOf) => deny(counterOf('api'), 'ann', 9));
  const { denied, unlisted } = (await read(one, other)).limiters[0]!;
  expect(denied.slice(0, 2)).toEqual([
    { key: 'ann', count: 11, error: 2 },
    { key: 'new', count: 3, error: 2 },
  ]);
  expect(denied).toHaveLength(256);
  expect(unlisted.denied).toBe(2);
});

test('slots are aligned by their age', async () => {
  const text = await published((counterOf) => counterOf('api').count('allowed', false));
  const note = (age: number) => ({ process: 'a', age, text });
  const { decisions, span } = (await read(note(0), note(9_000), note(31_000), note(10_000_000))).limiters[0]!;
  expect(decisions.allowed.slice(-4)).toEqual([1, 0, 0, 2]);
  expect(span).toBeGreaterThanOrEqual(10_000_000);
});

test('if one process hashes its keys, all keys are shown hashed', async () => {
  const calls = (counterOf: (limiter: string) => CallCounter) => deny(counterOf('api'), 'ann');
  const { limiters, keys } = await read(await published(calls, 'hash'), await published(calls));
  expect(keys).toBe('hash');
  expect(limiters[0]!.denied).toEqual([{ key: hashKey('ann'), count: 2, error: 0 }]);
});

test('a limiter can have its own counts in one process and be part of (other) in another', async () => {
  const crowded = await published((counterOf) => {
    for (let i = 0; i < 50; i += 1) deny(counterOf(`tenant-${i}`), 'x');
    deny(counterOf('api'), 'ann', 2);
    deny(counterOf('lone'), 'bob', 3);
  });
  const { limiters } = await read(crowded, await published((counterOf) => deny(counterOf('api'), 'ann', 1)));
  const deniedOf = (limiter: string) => limiters.find((one) => one.limiter === limiter)?.denied;
  expect(deniedOf('api')).toEqual([{ key: 'ann', count: 3, error: 0 }]);
  expect(deniedOf('(other)')).toEqual([{ scope: 'lone', key: 'bob', count: 3, error: 0 }]);
});

test('a combination in (other) names its member after its own name', async () => {
  const crowded = await published((counterOf) => {
    for (let i = 0; i < 50; i += 1) deny(counterOf(`tenant-${i}`), 'x');
    deny(counterOf('user+ip'), 'user ann', 2);
  }, 'hash');
  const { limiters, refused } = await read(crowded);
  expect(refused).toEqual([]);
  expect(limiters[0]!.denied).toEqual([{ scope: 'user+ip user', key: hashKey('ann'), count: 2, error: 0 }]);
  const own = await published((counterOf) => deny(counterOf('user+ip'), 'user ann', 1), 'hash');
  const report = (await read(crowded, own)).limiters.find(({ limiter }) => limiter === 'user+ip');
  expect(report?.denied).toEqual([{ scope: 'user', key: hashKey('ann'), count: 3, error: 0 }]);
});

test('a text is bounded: with many keys and limiters, each lists fewer keys with larger errors', async () => {
  const key = (i: number) => `${i}-`.padEnd(128, 'k');
  const text = await published((counterOf) => {
    for (let i = 0; i < 50; i += 1)
      for (let k = 0; k < 300; k += 1) deny(counterOf(`api-${i}`), key(k), k < 5 ? 3 : 1);
  });
  expect(text.length).toBeLessThanOrEqual(256_000);
  const { limiters } = await read(text);
  expect(limiters).toHaveLength(50);
  for (const { denied, unlisted } of limiters) {
    expect(denied).toHaveLength(32);
    expect(denied.slice(0, 5).map((one) => one.count - one.error)).toEqual([3, 3, 3, 3, 3]);
    expect(unlisted.denied).toBeLessThanOrEqual(310 / 32);
  }
});

test('a key of several processes counts once, with its highest use', async () => {
  const use = (key: string, share: number) =>
    published(
      (counterOf) => {
        counterOf('api').used(key, '', share, false);
        counterOf('api').used(key, 'perDay', share / 2, true);
      },
      'hash',
      true,
    );
  const off = await published((counterOf) => counterOf('api').used('cyd', '', 1, false));
  const { limiters } = await read(await use('ann', 0.5), await use('ann', 0.8), await use('bob', 0.1), off);
  const [{ keyUse, shadowKeyUse } = {}] = limiters;
  expect(keyUse).toEqual({
    keys: 2,
    error: 0,
    policies: [{ policy: undefined, keys: 2, use: { p50: 0.1, p90: 0.8, p99: 0.8, max: 0.8 } }],
  });
  expect(shadowKeyUse!.policies).toEqual([
    { policy: 'perDay', keys: 2, use: { p50: 0.05, p90: 0.4, p99: 0.4, max: 0.4 } },
  ]);
  expect((await read(off)).limiters[0]).toMatchObject({ keyUse: undefined, shadowKeyUse: undefined });
});

test('with many limiters, samples are smaller and their errors larger', async () => {
  const text = await published(
    (counterOf) => {
      for (let i = 0; i < 51; i += 1)
        for (let k = 0; k < 3_000; k += 1) counterOf(`api-${i}`).used(`${k}`, '', 0.5, false);
    },
    'hash',
    true,
  );
  expect(text.length).toBeLessThanOrEqual(256_000);
  const { limiters } = await read(text);
  expect(limiters).toHaveLength(51);
  expect(limiters.filter(({ keyUse }) => keyUse === undefined)).toMatchObject([{ limiter: '(other)' }]);
  const [{ keyUse } = {}] = limiters.filter(({ limiter }) => limiter === 'api-7');
  expect(keyUse!.error).toBeGreaterThan(0.04);
  expect(Math.abs(keyUse!.keys / 3_000 - 1)).toBeLessThan(4 * keyUse!.error);
});

const LIMITER = { name: 'api', span: 1, enforce: {}, shadow: {} };
const text = (fields: object) =>
  JSON.stringify({
    form: 1,
    version: '1.0.0',
    host: 'h',
    pid: 1,
    keys: 'plain',
    slotAge: 0,
    limiters: [],
    ...fields,
  });
const withList = (list: object) =>
  text({ limiters: [{ ...LIMITER, denied: { total: 9, unlisted: 0, ...list } }] });

/** Two keys and one policy. */
const SAMPLE = { theta: 9, hashes: 'AAAAAQAAAAU=', policies: [{ policy: '', max: 200, peaks: 'AP8=' }] };
const withSample = (sample: object) => text({ limiters: [{ ...LIMITER, keyUse: { ...SAMPLE, ...sample } }] });
const withPolicy = (policy: unknown) => withSample({ policies: [policy] });
const [POLICY] = SAMPLE.policies;

test('a valid sample is read', async () => {
  const { limiters, refused } = await read(withSample({}));
  expect([limiters.length, refused]).toEqual([1, []]);
});

test.each([
  ['', 'it is not JSON'],
  ['\u0000\u001b[2J', 'it is not JSON'],
  ['[]', 'its fields cannot be read'],
  ['null', 'its fields cannot be read'],
  ['{}', 'it has no known form'],
  [text({ form: 2 }), 'it has form 2, and this version reads form 1: update it'],
  [text({ form: '2' }), 'it has no known form'],
  [text({ host: 'a\u001b[31m' }), 'its host cannot be read'],
  [text({ keys: 'none' }), 'its keys cannot be read'],
  [text({ slotAge: -1 }), 'its slotAge cannot be read'],
  [text({ limiters: {} }), 'its limiters cannot be read'],
  [text({ limiters: [{ ...LIMITER, name: 'a b' }] }), 'its name cannot be read'],
  [text({ limiters: [LIMITER, LIMITER] }), 'its limiters cannot be read'],
  [text({ limiters: [{ ...LIMITER, enforce: { denied: ['9'] } }] }), 'its counts cannot be read'],
  [
    text({ limiters: [{ ...LIMITER, enforce: { denied: new Array(91).fill(1) } }] }),
    'its counts cannot be read',
  ],
  [withList({ keys: ['ann', 9] }), 'its error cannot be read'],
  [withList({ keys: ['ann', 9, 10] }), 'its error cannot be read'],
  [withList({ keys: ['\u009b31m', 9, 0] }), 'its key cannot be read'],
  [withList({ keys: ['ann', 9, 0, 'ann', 9, 0] }), 'its keys cannot be read'],
  [withList({ keys: 'ann' }), 'its keys cannot be read'],
  [withList({ keys: [], total: -1 }), 'its total cannot be read'],
  [withSample({ theta: 5 }), 'its keyUse cannot be read'],
  [withSample({ theta: 2 ** 32 + 1 }), 'its keyUse cannot be read'],
  [withSample({ hashes: 'AAAABQAAAAE=' }), 'its keyUse cannot be read'],
  [withSample({ hashes: 'AAAAAQAAAA==' }), 'its keyUse cannot be read'],
  [withSample({ hashes: 'A'.repeat(6_000) }), 'its keyUse cannot be read'],
  [withSample({ hashes: 1 }), 'its keyUse cannot be read'],
  [withSample({ policies: {} }), 'its keyUse cannot be read'],
  [withSample({ policies: [POLICY, POLICY] }), 'its keyUse cannot be read'],
  [withPolicy(null), 'its keyUse cannot be read'],
  [withPolicy({ ...POLICY, policy: '\u009b31m' }), 'its keyUse cannot be read'],
  [withPolicy({ ...POLICY, max: 201 }), 'its keyUse cannot be read'],
  [withPolicy({ ...POLICY, peaks: 'AMk=' }), 'its keyUse cannot be read'],
  [withPolicy({ ...POLICY, peaks: 'AA==' }), 'its keyUse cannot be read'],
  [' '.repeat(1_000_001), 'it has 1000001 characters'],
])('a text that cannot be read is reported, and the others are counted: text %#', async (foreign, reason) => {
  const ours = await published((counterOf) => deny(counterOf('api'), 'ann'));
  const { limiters, processes, refused } = await read({ process: 'a\u001bb', age: 5, text: foreign }, ours);
  expect(refused).toEqual([{ process: 'a%1Bb', reason }]);
  expect(processes).toHaveLength(1);
  expect(limiters[0]!.denied).toEqual([{ key: 'ann', count: 1, error: 0 }]);
});

test('names such as __proto__ are ordinary names', async () => {
  const { limiters } = await read(
    await published((counterOf) => deny(counterOf('__proto__'), 'constructor')),
  );
  expect(limiters.map(({ limiter, denied }) => [limiter, denied[0]!.key])).toEqual([
    ['__proto__', 'constructor'],
  ]);
});

test('a store without a board is rejected', async () => {
  await expect(readUsage({ name: 'mine' })).rejects.toThrow(
    'readUsage: the store must be memoryStore() or redisStore(…)',
  );
});
