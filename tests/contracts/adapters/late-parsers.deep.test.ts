import { fixedWindow } from '../../../packages/core/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';
import { onEachAdapter } from './on-each-framework.js';

// A body parser behind the limit: a mistake of the server, in every framework that allows it.

const policy = fixedWindow({ limit: 1, window: '1h' });
const rules = () =>
  new Rules({
    rules: [
      {
        name: 'ai',
        match: { path: '/*' },
        cost: '#{body.tokens}',
        limit: { fixedWindow: { limit: 2, window: '1h' } },
      },
    ],
  });

onEachAdapter(
  ({ start, needs }) => {
    let warned: jest.SpiedFunction<typeof process.emitWarning>;
    beforeEach(() => {
      (globalThis as { [slot: symbol]: Set<string> })[Symbol.for('sluice.warnings')]?.clear();
      warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    });
    afterEach(() => warned.mockRestore());

    needs('lateParser').each([
      ['a key', () => ({ policy, key: '#{body.phone}' })],
      ['several limits', () => ({ limits: { perPhone: { policy, key: '#{body.phone}' } } })],
      ['the cost of a rule', () => ({ rules: rules() })],
    ])(
      '%s of a body that is parsed later is a 500 for every client, with one warning',
      async (_, options) => {
        const client = await start({ limits: [options()], lateParser: true, errors: 'adapter' });
        for (const phone of ['1', '1', '2']) {
          const { text } = await client.post('/').send({ phone, tokens: 1 }).expect(500);
          expect(text).not.toContain('#{');
        }
        expect(warned).toHaveBeenCalledTimes(1);
        expect(`${warned.mock.calls[0]}`).toContain('Put a body parser in front of the limit');
      },
    );

    test('with the parser in front, a missing value is a 400, and a missing cost is 1', async () => {
      const keyed = await start({ limits: [{ policy, key: '#{body.phone}' }] });
      await keyed.post('/').send({ phone: '1' }).expect(200);
      await keyed.post('/').send({}).expect(400);
      await keyed.get('/').expect(400);
      const ruled = await start({ limits: [{ rules: rules() }] });
      await ruled.post('/').send({ tokens: 3 }).expect(429);
      await ruled.get('/').expect(200);
      await ruled.post('/').send({}).expect(200);
      await ruled.get('/').expect(429);
      expect(warned).not.toHaveBeenCalled();
    });
  },
  ['memory'],
);
