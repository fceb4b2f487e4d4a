import { memoryStore } from '@sluice/core';
import type { Context } from '../command.js';
import { serve } from './serve.js';

const missing = (name: string) => () => {
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
};
const defaults = { rules: 'rules', host: '127.0.0.1', port: '0', grpcPort: '0' };
const store = memoryStore();
afterAll(() => store.close());
const run = (options: Record<string, string | boolean>) =>
  serve.run({ store } as unknown as Context, ['limits.yaml'], { ...defaults, ...options });

test.each([
  ['@sluice/serve', {}],
  ['@sluice/otel', { otel: true }],
])('a missing package is named: %s', async (name, options) => {
  jest.doMock(name, missing(name));
  await expect(run(options)).rejects.toMatchObject({
    message: `sluice serve needs the package ${name}, which is not installed.`,
    remedy: `Install it beside this command: npm install --global ${name}`,
  });
  jest.dontMock(name);
});

test.each([
  ['--port', { port: '70000' }, '70000'],
  ['--grpc-port', { grpcPort: 'grpc' }, 'grpc'],
])('%s that is no port is refused', async (flag, options, given) => {
  await expect(run(options)).rejects.toThrow(`${flag} takes a number from 0 to 65535, not ${given}.`);
});
