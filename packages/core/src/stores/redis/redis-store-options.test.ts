import { Cluster, Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { storeOnDefaults } from '../../../../../tests/support/expecting-warning.js';
import { redisStore } from './redis-store.js';

const at = { host: '127.0.0.1', port: 1 };
const client = () => new Redis(1, { lazyConnect: true });

test.each([
  ['an address', () => 'redis://127.0.0.1:1', false],
  [
    'url',
    () => ({ url: 'valkeys://127.0.0.1:1', username: 'ann', password: 'secret', tls: { ca: '' } }),
    false,
  ],
  [
    'sentinels',
    () => ({ sentinels: [at], name: 'mymaster', options: { db: 2, sentinelPassword: 'x' } }),
    false,
  ],
  ['cluster', () => ({ cluster: [at, 'redis://127.0.0.1:2'], tls: true, options: { natMap: {} } }), true],
  ['client', () => ({ client: client() }), false],
  ['a client', client, false],
  ['a cluster client', () => ({ client: new Cluster([at], { lazyConnect: true }) }), true],
])('accepts %s, and does not connect before the first call', async (_, place, slotted) => {
  const store = storeOnDefaults(place());
  expect(store.slotted).toBe(slotted);
  expect(store.nodeOf('k')).toBe('');
  await store.close();
});

test.each<[string, object, RegExp]>([
  ["a client's options", { host: '127.0.0.1', port: 6379 }, /none of them: pass url: 'redis:/],
  ['nothing', {}, /one of url, sentinels, cluster and client, not an object with none/],
  ['two places', { url: 'redis://h', client: client() }, /not url and client/],
  ['a misspelt option', { url: 'redis://h', pasword: 'x' }, /no option 'pasword'; did you mean 'password'\?/],
  [
    'a client of ioredis 4',
    { evalsha: () => 0, eval: () => 0, options: { dropBufferSupport: false } },
    /clients of ioredis 5 and 6, not of ioredis 4: npm install ioredis@latest/,
  ],
  [
    'a cluster of ioredis 4',
    { client: { evalsha: () => 0, eval: () => 0, options: { maxScriptsCachingTime: 60_000 } } },
    /not of ioredis 4/,
  ],
  [
    'a client of createSentinel, which sends calls again',
    { client: createSentinel({ name: 'mymaster', sentinelRootNodes: [at] }) },
    /takes no client of createSentinel\(\): .* Pass the sentinels instead: redisStore\(\{ sentinels:/,
  ],
  ['an option of another place', { cluster: [at], name: 'mymaster' }, /no option 'name'/],
  ['settings for a client that has its own', { client: client(), password: 'x' }, /no option 'password'/],
  ['a value that is not a client', { client: { evalsha: 1 } }, /redisStore takes .*, not an object/],
  ['an invalid address', { url: 'localhost:6379' }, /takes an address such as .*, not "localhost:6379"/],
  [
    'a misspelt address, without printing its password',
    { url: 'redis//shop:s3cret@host:6379' },
    /takes an address such as .*, not "…@host:6379"/,
  ],
  [
    'a cluster as a string, without printing its password',
    { cluster: 'redis://shop:s3cret@host' },
    /cluster must be .*, not "…@host"/,
  ],
  ['no sentinels', { sentinels: [], name: 'mymaster' }, /sentinels must be a list of \{ host, port \}/],
  ['sentinels as strings', { sentinels: ['127.0.0.1:26379'], name: 'mymaster' }, /sentinels must be a list/],
  ['sentinels without a name', { sentinels: [at] }, /name must be the sentinels' name of the primary/],
  ['a cluster of an invalid address', { cluster: ['127.0.0.1'] }, /cluster must be a list/],
  ['a database that is not a number', { url: 'redis://h/shop' }, /is a database number.*"\/shop"/],
  [
    'a db that is not a number',
    { url: 'redis://h', options: { db: 'shop' } },
    /whole number ≥ 0 as db, not "shop"/,
  ],
  ['a negative db', { url: 'redis://h', options: { db: -1 } }, /whole number ≥ 0 as db, not -1/],
  ['a db in the query', { url: 'redis://h?db=x' }, /whole number ≥ 0 as db/],
  ['options that are a string', { url: 'redis://h', options: 'db=1' }, /options must be an object/],
  [
    'a password among options',
    { url: 'redis://h', options: { password: 'x' } },
    /'password' is an option of redisStore itself/,
  ],
  [
    'an option that only the store sets',
    { url: 'redis://h', options: { maxRetriesPerRequest: 3 } },
    /cannot set 'maxRetriesPerRequest'/,
  ],
  [
    'such an option of a cluster',
    { cluster: [at], options: { retryDelayOnFailover: 100 } },
    /cannot set 'retryDelayOn/,
  ],
  [
    'such an option of cluster nodes',
    { cluster: [at], options: { redisOptions: { enableOfflineQueue: true } } },
    /options\.redisOptions cannot set 'enableOfflineQueue'/,
  ],
  [
    'such an option in an address',
    { url: 'redis://h?maxRetriesPerRequest=3' },
    /the query of the address cannot set/,
  ],
  [
    'an invalid usage',
    { url: 'redis://h', usage: 'yes' },
    /^redisStore: usage must be true, false or an object/,
  ],
  [
    'an invalid option of usage',
    { cluster: [at], usage: { keys: 'all' } },
    /usage\.keys must be 'hash', or 'plain' to .*, not "all"/,
  ],
])('rejects %s', (_, options, message) => {
  expect(() => redisStore(options as never)).toThrow(TypeError);
  expect(() => redisStore(options as never)).toThrow(message);
});

test('rejects an address that sets an option of the store', () => {
  expect(() => redisStore('redis://h?autoResendUnfulfilledCommands=true')).toThrow(/cannot set/);
});
