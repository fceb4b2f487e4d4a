import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { isStoreUnavailableError, redisStore, type Store } from '../../../packages/core/src/index.js';
import { storeContract } from '../../contracts/store/all.suite.js';
import { holdingContract } from '../../contracts/store/holding.suite.js';
import { redisByIoredis } from '../../contracts/store/openers.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { asUser, DISPENSABLE, RULES, refusals, setUser } from './rules.js';
import { walk } from './walk.js';

// A user with the rights of docs/operations.md and no others.

let server: RedisServer;
let admin: Redis6;
const ask = (command: string, ...args: string[]) => admin.call(command, ...args);
const opened: Store[] = [];
const storeAsUser = () => {
  const store = redisStore(asUser(server.url));
  opened.push(store);
  return store;
};

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis6(server.url);
});
beforeEach(async () => {
  await setUser(ask, RULES);
  await ask('ACL', 'LOG', 'RESET');
  await admin.script('FLUSH'); // so that the first call sends the whole script
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const kinds = [
  redisByIoredis('ioredis 6', () => new Redis6(asUser(server.url))),
  redisByIoredis('ioredis 5', () => new Redis5(asUser(server.url))),
] as const;

describe('with the rights of docs/operations.md', () => {
  storeContract(kinds[0]);
  describe('ioredis 5', () => holdingContract(kinds[1]));
});

test.each(kinds)('every operation works with the rights of docs/operations.md, $name', async ({ open }) => {
  const store = open();
  await walk(store).finally(() => store.close());
  expect(await refusals(ask)).toEqual([]);
});

const commands = RULES.filter((rule) => rule.startsWith('+'));
const without = (command: string) => RULES.filter((rule) => rule !== command);

test.each(commands.filter((command) => !DISPENSABLE.includes(command)))(
  'without %s an operation rejects with NOPERM',
  async (command) => {
    await setUser(ask, without(command));
    const error = await walk(storeAsUser()).catch((reason: unknown) => reason);
    expect(isStoreUnavailableError(error) && error.reason).toBe('NOPERM');
  },
);

test.each(RULES.filter((rule) => !rule.startsWith('+')))(
  'without %s every call rejects with NOPERM',
  async (pattern) => {
    await setUser(ask, without(pattern));
    expect(await walk(storeAsUser()).catch((reason: unknown) => reason)).toMatchObject({ reason: 'NOPERM' });
  },
);

test.each(DISPENSABLE)('without %s every operation still works', async (command) => {
  expect(RULES).toContain(command);
  const warn = jest.spyOn(console, 'warn').mockImplementation();
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation();
  await setUser(ask, without(command));
  const store = storeAsUser();
  await walk(store);
  await store.close(); // its limiters are published after a second
  if (command === '+info') expect(warn).toHaveBeenCalledWith(expect.stringContaining('INFO'));
  else expect(warn).not.toHaveBeenCalled();
  // A process warns once for each server, so only the first of these commands warns.
  for (const [, options] of emitted.mock.calls)
    expect(options).toMatchObject({ code: 'SLUICE_FLEET_REFUSED' });
  emitted.mockRestore();
  warn.mockRestore();
});
