import { Redis } from 'ioredis';
import { redisUrl } from '../../../../../tests/support/redis-url.js';
import { isStoreConfigurationError } from '../../errors.js';
import { unpacked } from './reply.js';

let redis: Redis;
beforeAll(() => {
  redis = new Redis(redisUrl());
});
afterAll(() => redis.disconnect());

const pack = (list: string) =>
  redis.callBuffer('EVAL', `return cmsgpack.pack(${list})`, 0) as Promise<Buffer>;

const EDGES = [
  0,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 32 - 1,
  2 ** 32,
  1_732_145_678_123_456,
  2 ** 53 - 1,
];

test('numbers and strings of every size are unpacked', async () => {
  const texts = [0, 1, 31, 32, 255, 256, 65_535, 65_536].map(
    (size) => 'é'.repeat(size / 2) + 'x'.repeat(size % 2),
  );
  const negative = [
    -1,
    -8,
    -32,
    -33,
    -128,
    -129,
    -32_768,
    -32_769,
    -(2 ** 31),
    -(2 ** 31) - 1,
    -(2 ** 53) + 1,
  ];
  const numbers = [...EDGES, ...negative];
  const list = [...numbers.map((n) => n.toFixed(0)), ...texts.map((text) => `'${text}'`)];
  expect(unpacked(await pack(`{${list}}`))).toEqual([...numbers, ...texts]);
});

test.each([1, 15, 16, 65_535, 65_536])('a list of %d numbers is unpacked', async (size) => {
  const bytes = await pack(`(function() local t = {} for i = 1, ${size} do t[i] = i end return t end)()`);
  expect(unpacked(bytes)).toEqual(Array.from({ length: size }, (_, i) => i + 1));
});

test('any other data throws a StoreConfigurationError', async () => {
  const list = await pack(`{${EDGES.map((n) => n.toFixed(0))}, 'text'}`);
  const cut = Array.from(list, (_, i) => list.subarray(0, i));
  const others = await Promise.all(
    ['1', "'text'", '{ a = 1 }', '{ 1.5 }', '{ { 1 } }', '{ true }'].map(pack),
  );
  for (const bytes of [...cut, ...others, Buffer.concat([list, list]), Buffer.from('foreign')]) {
    let thrown: unknown;
    try {
      unpacked(bytes);
    } catch (error) {
      thrown = error;
    }
    expect([bytes, isStoreConfigurationError(thrown)]).toEqual([bytes, true]);
  }
});
