import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** Serves until the command ends at once, as after Ctrl-C. */
async function printed(file: string, host: string, json = () => {}): Promise<string> {
  const lines: string[] = [];
  const output = { json, lines: (some: string[]) => lines.push(...some) };
  const context = { store, output, signal: AbortSignal.abort() } as unknown as Context;
  await serve.run(context, [file], { ...defaults, host });
  return lines.join('\n');
}

describe('with a file of rules', () => {
  const close = jest.fn();
  const mockServe = () =>
    jest.doMock('@sluice/serve', () => ({ serve: async () => ({ port: 1, grpcPort: 2, close }) }));
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-serve-'));
    file = join(folder, 'limits.yaml');
    await writeFile(file, 'rules: [{ name: a, limit: { fixedWindow: { limit: 1, window: 1h } } }]');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('the printed addresses can be opened, also those of IPv6', async () => {
    mockServe();
    expect(await printed(file, 'a.local')).toMatch(/^gRPC on a\.local:2\nHTTP on http:\/\/a\.local:1$/m);
    expect(await printed(file, '::1')).toMatch(/^gRPC on \[::1\]:2\nHTTP on http:\/\/\[::1\]:1$/m);
    jest.dontMock('@sluice/serve');
  });

  test('an address of another machine is named as the possible cause', async () => {
    await expect(printed(file, '192.0.2.1')).rejects.toMatchObject({
      message: expect.stringContaining('EADDRNOTAVAIL'),
      remedy: expect.stringMatching(/^Is the address one of this machine/),
    });
  });

  test('an error after the start ends the servers: they would keep the process alive', async () => {
    mockServe();
    close.mockClear();
    const fails = () => {
      throw new Error('later');
    };
    await expect(printed(file, '127.0.0.1', fails)).rejects.toThrow('later');
    expect(close).toHaveBeenCalledTimes(1);
    jest.dontMock('@sluice/serve');
  });
});

test.each([
  ['--port', { port: '70000' }, '70000'],
  ['--grpc-port', { grpcPort: 'grpc' }, 'grpc'],
])('%s that is no port is refused', async (flag, options, given) => {
  await expect(run(options)).rejects.toThrow(`${flag} takes a number from 0 to 65535, not ${given}.`);
});
