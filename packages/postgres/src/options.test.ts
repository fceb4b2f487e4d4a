import { isStoreConfigurationError, isStoreUnavailableError } from '@sluice/core';
import pg from 'pg';
import { classified } from './errors.js';
import { type PostgresStoreOptions, postgresStore } from './index.js';
import { arrayOf, quoted } from './sql.js';

const url = 'postgres://ann:secret@127.0.0.1:1/limits';

test.each<[string, unknown, RegExp]>([
  ['no options', undefined, /takes an options object/],
  ['no address', {}, /url must be the address of a database, such as/],
  ['an address of Redis', 'redis://127.0.0.1', /such as 'postgres:/],
  ['an address that is a number', { url: 5 }, /not 5/],
  ['a pool', { pool: new pg.Pool() }, /connection of its own/],
  ['connect that is a client', { connect: new pg.Client() }, /connect must be a function/],
  ['connect beside url', { url, connect: () => new pg.Client() }, /instead of url/],
  ['connection that is a text', { connection: url }, /must be options of pg/],
  ['a name of no table', { url, table: '' }, /table must be a name of 1 to 63 bytes/],
  ['a long name', { url, table: 'é'.repeat(32) }, /63 bytes/],
  ['a schema that is a number', { url, schema: 1 }, /schema must be a name/],
  ['unlogged that is a text', { url, unlogged: 'no' }, /unlogged/],
  ['listen that is a text', { url, listen: 'no' }, /listen/],
  ['a misspelt option', { url, tabel: 'limits' }, /did you mean 'table'/],
])('%s is refused at construction', (_, options, message) => {
  expect(() => postgresStore(options as PostgresStoreOptions)).toThrow(message);
});

test('errors do not show the password', () => {
  expect(() => postgresStore('mysql://ann:secret@host/limits')).toThrow(/another form$/);
  for (const password of ['secret', 'se@cret', '1/se@cret', ''])
    expect(postgresStore(`postgres://ann:${password}@127.0.0.1:1/limits`).health.address()).toBe(
      'postgres://127.0.0.1:1/limits',
    );
  expect(postgresStore('postgres://127.0.0.1:1/limits?password=se@cret').health.address()).toBe(
    'postgres://127.0.0.1:1/limits',
  );
});

test('a pool that connect returns is refused', async () => {
  const store = postgresStore({ connect: () => new pg.Pool() as never });
  await expect(store.connect()).rejects.toThrow(/new client with one connection/);
  await store.close();
});

describe('an error of the server', () => {
  const errorOf = (code: string) =>
    classified(Object.assign(new Error('said'), { code, severity: 'ERROR' }), true);

  test.each([
    ['28P01', 'WRONGPASS'],
    ['42501', 'NOPERM'],
    ['25006', 'READONLY'],
    ['53300', 'connection'],
    ['57P01', 'connection'],
    ['57P03', 'LOADING'],
    ['55P03', 'timeout'],
    ['40P01', 'connection'],
  ])('%s is an outage', (code, reason) => {
    const error = errorOf(code);
    expect(isStoreUnavailableError(error)).toBe(true);
    expect(error).toMatchObject({ reason, neverSent: true });
  });

  test.each(['3D000', '3F000', '42703', '0A000'])('%s is a mistake', (code) => {
    expect(isStoreConfigurationError(errorOf(code))).toBe(true);
  });
});

test('a lost connection is an outage, with the messages of all addresses', () => {
  const refused = Object.assign(new AggregateError([new Error('one'), new Error('two')]), {
    code: 'ECONNREFUSED',
  });
  expect(classified(refused, false)).toMatchObject({
    message: 'postgresStore: one, two',
    reason: 'connection',
    neverSent: false,
  });
});

test('names and keys are quoted', () => {
  expect(quoted('a"b')).toBe('"a""b"');
  expect(arrayOf(['a', 'b,c', 'd"e\\f', ''])).toBe('{"a","b,c","d\\"e\\\\f",""}');
});
