import { fixedWindow } from '@sluice/core';
import supertest from 'supertest';
import { onEachAdapter } from './on-each-framework.js';

/** Warnings that this process has emitted, because each is emitted once. */
const emitted = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;
const policy = fixedWindow({ limit: 1, window: '1h' });

onEachAdapter(
  ({ start, serve, needs, names: { limit, window } }) => {
    let emitWarning: jest.SpiedFunction<(message: string, options: { code: string }) => void>;
    beforeEach(() => {
      emitted.clear();
      emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {}) as never;
    });
    afterEach(() => emitWarning.mockRestore());
    const warnings = () => emitWarning.mock.calls.map(([text, { code }]) => `${code} ${text}`);

    needs('limitsPerRequest')('a limit created in a handler never denies, and causes a warning', async () => {
      const { url, close } = await serve({ limits: [{ name: 'api', policy }], limitsPerRequest: true });
      for (let i = 0; i < 4; i += 1) await supertest(url).get('/').expect(200);
      await close();
      expect(warnings()).toEqual([expect.stringMatching(/^SLUICE_LIMIT_PER_REQUEST rateLimit: limit 'api'/)]);
    });

    const short =
      `SLUICE_SHORT_WINDOW rateLimit: ${window}: 60 of limit 'default' is 60 milliseconds. Write '60s' if you mean seconds, ` +
      "'60ms' if you mean milliseconds";

    needs('names')(`${window}: 60 causes a warning`, async () => {
      await start({ limits: [{ [limit]: 5, [window]: 60 }] });
      expect(warnings()).toEqual([short]);
    });

    needs('names')(
      `a function for ${limit} with ${window}: 60 causes a warning on its first request`,
      async () => {
        const client = await start({ limits: [{ [limit]: async () => 5, [window]: 60 }] });
        expect(warnings()).toEqual([]);
        await client.get('/');
        await client.get('/');
        expect(warnings()).toEqual([short]);
      },
    );
  },
  ['memory'],
);
