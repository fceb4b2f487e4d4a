import type { IncomingHttpHeaders } from 'node:http';
import type { RequestView } from '@sluice/http';
import { hourly, onEachAdapter } from './on-each-framework.js';

/** Texts that no response may contain. */
const INTERNALS = /#\{|template|undefined|keyGenerator|option|finite|bigint/;

/** Warnings that this process has emitted, because each is emitted once. */
const emitted = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;

onEachAdapter(
  ({ start, methodOf }) => {
    let warnings: jest.SpiedFunction<(message: string, options: { code: string }) => void>;
    beforeEach(() => {
      emitted.clear();
      warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {}) as never;
    });
    afterEach(() => warnings.mockRestore());

    test.each([undefined, null, '', Number.NaN, ['a'], {}])(
      'a keyGenerator that returns %p is a 500 with a warning',
      async (key) => {
        const client = await start({
          limits: [{ policy: hourly(1), keyGenerator: () => key as never }],
          errors: 'adapter',
        });
        const { text } = await client.get('/').expect(500);
        expect(text).not.toMatch(INTERNALS);
        expect(warnings).toHaveBeenCalledTimes(1);
        expect(warnings.mock.calls[0]).toMatchObject([
          expect.stringContaining('The result of keyGenerator is '),
          { code: 'SLUICE_NO_KEY' },
        ]);
      },
    );

    test.each([
      ['at once', () => undefined],
      ['asynchronously', async () => undefined],
    ])('a user function that returns nothing (%s) is a 500', async (_, user) => {
      const limits = [{ policy: hourly(1), limitType: 'USER' as const, user }];
      const client = await start({ limits, errors: 'adapter' });
      const { text } = await client.get('/').expect(500);
      expect(text).not.toMatch(INTERNALS);
    });

    test('a user function may be asynchronous, and its error fails the request', async () => {
      const user = async ({ headers }: RequestView) => {
        const who = (headers as IncomingHttpHeaders)['x-who'];
        if (who === undefined) throw new Error('the directory is down');
        return who;
      };
      const client = await start({ limits: [{ policy: hourly(1), limitType: 'USER', user }] });
      await client.get('/').set('x-who', 'ann').expect(200);
      await client.get('/').set('x-who', 'ann').expect(429);
      await client.get('/').set('x-who', 'bob').expect(200);
      await client.get('/').expect(500);
    });

    test('a request without the value of a key is a 400 that names only the field', async () => {
      const client = await start({
        limits: [
          {
            name: 'a',
            policy: hourly(9),
            key: '#{body.email}',
            skip: (request) => methodOf(request) === 'GET',
          },
          {
            name: 'b',
            policy: hourly(9),
            key: 'q:#{query.phone}',
            skip: (request) => methodOf(request) !== 'GET',
          },
        ],
        errors: 'adapter',
      });
      for (const body of [{}, { email: null }, { email: ['a'] }, { email: '' }]) {
        const { text } = await client.post('/').send(body).expect(400);
        expect(text).not.toMatch(INTERNALS);
      }
      const { text } = await client.get('/').expect(400);
      expect(text).toContain('query.phone');
      expect(text).not.toMatch(INTERNALS);
    });
  },
  ['memory'],
);
