import { createRequire } from 'node:module';
import { join } from 'node:path';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

/** What a call ended with. */
interface End {
  readonly value?: string;
  readonly code?: number;
  readonly details?: string;
  readonly metadata?: { get(name: string): (string | Buffer)[] };
}

/** The messages of google/rpc/status.proto and error_details.proto that the recipe writes by hand. */
const PROTO = `syntax = "proto3";
message Duration { int64 seconds = 1; int32 nanos = 2; }
message Any { string type_url = 1; bytes value = 2; }
message RetryInfo { Duration retry_delay = 1; }
message Status { int32 code = 1; string message = 2; repeated Any details = 3; }`;

let require: NodeJS.Require;
let modules: string;
let program: Program;
beforeAll(async () => {
  modules = await recipePackages();
  require = createRequire(join(modules, '@grpc/grpc-js/package.json'));
}, 300_000);
afterEach(() => program?.stop());

function clientOf(options = {}) {
  const { Client, credentials } = require('@grpc/grpc-js');
  const client = new Client(program.url.replace('http://', ''), credentials.createInsecure(), options);
  const text = [(value: string) => Buffer.from(value), String] as const;
  return {
    call: (value: string) =>
      new Promise<End>((resolve) =>
        client.makeUnaryRequest('/demo.Echo/Say', ...text, value, (error: End | null, answer: string) =>
          resolve(error ?? { value: answer }),
        ),
      ),
    close: () => client.close(),
  };
}

test('a denied call is RESOURCE_EXHAUSTED with the time to wait, as pushback and as RetryInfo', async () => {
  const replace = { 'capacity: 20': 'capacity: 2', "refill: 10, every: '1s'": "refill: 1, every: '300s'" };
  program = await startBlock('docs/recipes/grpc.md', 'grpc', { modules, replace, ready: 'listens on' });
  const client = clientOf();
  expect(await client.call('one')).toEqual({ value: 'echo: one' });
  await client.call('two');
  const denied = await client.call('three');
  expect([denied.code, denied.details]).toEqual([8, 'Too many calls of /demo.Echo/Say']);
  const pushback = Number(denied.metadata!.get('grpc-retry-pushback-ms')[0]);
  expect(pushback).toBeGreaterThan(128_000);
  expect(pushback).toBeLessThanOrEqual(300_000);

  const { root } = require('protobufjs').parse(PROTO, { keepCase: true });
  const decode = (type: string, bytes: unknown) => {
    const message = root.lookupType(type);
    return message.toObject(message.decode(bytes), { longs: Number });
  };
  const status = decode('Status', denied.metadata!.get('grpc-status-details-bin')[0]);
  expect(status).toMatchObject({
    code: 8,
    message: 'Too many calls of /demo.Echo/Say',
    details: [{ type_url: 'type.googleapis.com/google.rpc.RetryInfo' }],
  });
  const { retry_delay } = decode('RetryInfo', status.details[0].value);
  expect(retry_delay).toEqual({ seconds: Math.ceil(pushback / 1000) });
  client.close();
});

test('a client with a retry policy waits for as long as the pushback says, and its call passes', async () => {
  const replace = { 'capacity: 20': 'capacity: 1', 'refill: 10': 'refill: 2' };
  program = await startBlock('docs/recipes/grpc.md', 'grpc', { modules, replace, ready: 'listens on' });
  const retryPolicy = {
    ...{ maxAttempts: 3, initialBackoff: '60s', maxBackoff: '60s', backoffMultiplier: 1 },
    retryableStatusCodes: ['RESOURCE_EXHAUSTED'],
  };
  const config = {
    loadBalancingConfig: [],
    methodConfig: [{ name: [{ service: 'demo.Echo' }], retryPolicy }],
  };
  const client = clientOf({ 'grpc.service_config': JSON.stringify(config) });
  const ends = [await client.call('one'), await client.call('two')];
  expect(ends).toEqual([{ value: 'echo: one' }, { value: 'echo: two' }]);
  client.close();
});

test('a thousand calls at once get no more answers than the limit', async () => {
  const replace = { "every: '1s'": "every: '1h'" };
  program = await startBlock('docs/recipes/grpc.md', 'grpc', { modules, replace, ready: 'listens on' });
  const client = clientOf();
  const ends = await Promise.all(Array.from({ length: 1000 }, (_, i) => client.call(String(i))));
  expect(ends.filter(({ value }) => value !== undefined)).toHaveLength(20);
  expect(ends.filter(({ code }) => code === 8)).toHaveLength(980);
  client.close();
});
