import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { isStoreUnavailableError, redisStore, type Store } from '../../../packages/core/src/index.js';
import { storeContract } from '../../contracts/store/all.suite.js';
import { holdingContract } from '../../contracts/store/holding.suite.js';
import { redisByIoredis } from '../../contracts/store/openers.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { asUser, DISPENSABLE, RULES, refusals, setUser } from './rules.js';
import { walk } from './walk.js';

// A user who may do what docs/operations.md says, and nothing else.

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
  await admin.script('FLUSH'); // the first call has to send the whole script
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

describe('is all that the store contract needs', () => {
  storeContract(kinds[0]);
  describe('ioredis 5', () => holdingContract(kinds[1]));
});

test.each(kinds)('is all that every operation needs, $name', async ({ open }) => {
  const store = open();
  await walk(store).finally(() => store.close());
  expect(await refusals(ask)).toEqual([]);
});

const commands = RULES.filter((rule) => rule.startsWith('+'));
const without = (command: string) => RULES.filter((rule) => rule !== command);

test.each(commands.filter((command) => !DISPENSABLE.includes(command)))(
  'without %s something is refused, and said to be a missing right',
  async (command) => {
    await setUser(ask, without(command));
    const error = await walk(storeAsUser()).catch((reason: unknown) => reason);
    expect(isStoreUnavailableError(error) && error.reason).toBe('NOPERM');
  },
);

test.each(RULES.filter((rule) => !rule.startsWith('+')))(
  'without %s everything is out of reach',
  async (pattern) => {
    await setUser(ask, without(pattern));
    expect(await walk(storeAsUser()).catch((reason: unknown) => reason)).toMatchObject({ reason: 'NOPERM' });
  },
);

test.each(DISPENSABLE)('without %s every operation does what it should', async (command) => {
  expect(RULES).toContain(command);
  const warn = jest.spyOn(console, 'warn').mockImplementation();
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation();
  await setUser(ask, without(command));
  const store = storeAsUser();
  await walk(store);
  await store.close(); // its limiters are published after a second
  if (command === '+info') expect(warn).toHaveBeenCalledWith(expect.stringContaining('INFO'));
  else expect(warn).not.toHaveBeenCalled();
  // Once for each server: the first of these commands in this file.
  for (const [, options] of emitted.mock.calls)
    expect(options).toMatchObject({ code: 'SLUICE_FLEET_REFUSED' });
  emitted.mockRestore();
  warn.mockRestore();
});
