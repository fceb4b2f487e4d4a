import { carry } from '@sluice/entries';
import { Redis } from 'ioredis';
import { redisUrl, uniqueName } from '../../../../tests/support/redis-url.js';
import { RedisEntries } from './redis-entries.js';

/** A Redis whose keys are of another program. @param scans until its keys are at an end */
function otherKeys(scans: number): Redis {
  let left = scans;
  const scan = async () => {
    left -= 1;
    return [String(left), []];
  };
  return { options: {}, scan } as unknown as Redis;
}

test('each SCAN has a deadline of its own, also where all keys are of another program', async () => {
  const SCANS = 100;
  let answers = 0;
  const ask = <T>(answer: Promise<T>) => {
    answers += 1;
    return answer;
  };
  const options = { prefix: 'sluice', overwrites: false, dryRun: false, ask };
  const { signal } = new AbortController();
  const to = { put: async () => 0 };
  const carried = await carry(new RedisEntries(otherKeys(SCANS)), to, { ...options, signal }, () => {});
  expect(carried).toEqual({ read: 0, bytes: 0, written: 0 });
  expect(answers).toBe(SCANS + 1); // the last one says that it is the end
});

test.each([true, false])(
  'an entry in its last millisecond is written, with overwrites: %s',
  async (overwrites) => {
    const client = new Redis(redisUrl());
    try {
      const key = `sluice:v2:fw:${uniqueName('copied')}:{ann}`;
      const entry = { key, entry: Buffer.from('x'), left: 0 };
      expect(await new RedisEntries(client).put([entry], { overwrites, dryRun: false })).toBe(1);
    } finally {
      client.disconnect();
    }
  },
);
