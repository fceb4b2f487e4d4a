import { ManualClock, memoryStore } from '@sluice/core';
import { transformSync } from 'esbuild';
import { CountLimit, type CountLimitOptions, configureSluice } from './index.js';

/** The class in a production build: each parameter is one letter. */
function minified(options: CountLimitOptions): { send(code: number, phone: string): Promise<string> } {
  const source = `
    class Sms {
      @CountLimit(options)
      async send(code, phone) { return phone + code; }
    }
    return new Sms();`;
  const { code } = transformSync(`function load(CountLimit, options) {${source}}`, {
    loader: 'ts',
    minify: true,
    keepNames: true,
    target: 'es2022',
  });
  expect(code).not.toMatch(/async send\(code/);
  return Function(`${code}; return load`)()(CountLimit, options);
}

/** The clock of the store does not advance, so no window of a second ends during a test. */
beforeEach(() => configureSluice({ store: memoryStore({ clock: new ManualClock() }) }));

test('params finds parameters by name in minified code', async () => {
  const sms = minified({ key: '#{phone}', limitType: 'CUSTOM', params: ['code', 'phone'] });
  await expect(sms.send(1, 'a')).resolves.toBe('a1');
  await sms.send(1, 'b');
  await expect(sms.send(2, 'a')).rejects.toMatchObject({
    status: 429,
    decision: { name: 'countLimit:Sms.send' },
  });
});

test('without params, the error at decoration names the remedy', () => {
  expect(() => minified({ key: '#{phone}', limitType: 'CUSTOM' })).toThrow(
    /uses 'phone', .* declare the names in order: params: \['phone', …\]/,
  );
});

test('a key by position needs no parameter names', async () => {
  const sms = minified({ key: '#{1}', limitType: 'CUSTOM' });
  await sms.send(1, 'a');
  await expect(sms.send(2, 'a')).rejects.toMatchObject({ status: 429 });
});
