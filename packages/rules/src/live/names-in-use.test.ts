import { memoryStore } from '@sluice/core';
import { loadRules, Rules } from '../index.js';

let emitted: jest.SpyInstance;
beforeEach(() => {
  emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => emitted.mockRestore());

const text = (name: string, limit: number) =>
  `name: ${name}\nrules: [{ name: api, limit: { fixedWindow: { limit: ${limit}, window: 1m } } }]`;

test('two open documents warn if they share a name and a store and differ in limits', async () => {
  const store = memoryStore();
  const [one, other] = [1, 2].map((limit) => new Rules(text('twice', limit), { store }));
  expect(emitted.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^Two open documents of rules named 'twice' .* rule 'api', .*Give each document its own name/,
      ),
      expect.objectContaining({ code: 'SLUICE_SAME_NAME' }),
    ],
  ]);
  await Promise.all([one, other].map((rules) => rules!.close()));
  await store.close();
});

test('equal limits, another name, another store, or a closed document cause no warning', async () => {
  const [store, elsewhere] = [memoryStore(), memoryStore()];
  const closed = new Rules(text('a', 1), { store });
  await closed.close();
  const open = [
    new Rules(text('a', 2), { store }),
    new Rules(text('a', 2), { store }),
    new Rules(text('b', 3), { store }),
    new Rules(text('a', 4), { store: elsewhere }),
  ];
  expect(emitted).not.toHaveBeenCalled();
  for (const rules of open) await rules.close();
  await Promise.all([store.close(), elsewhere.close()]);
});

test('two followers of one source cause no warning while only one has read the latest version', async () => {
  const store = memoryStore();
  let limit = 1;
  const source = () => text('followed', limit);
  const one = await loadRules(source, { store });
  limit = 2;
  const same = await loadRules(source, { store });
  expect(emitted).not.toHaveBeenCalled();
  const other = await loadRules(() => text('followed', 3), { store });
  expect(emitted).toHaveBeenCalledTimes(1);
  for (const rules of [one, same, other]) await rules.close();
  await store.close();
});
