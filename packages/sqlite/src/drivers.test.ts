import { loadDriver } from './drivers.js';

afterEach(() => jest.dontMock('better-sqlite3'));

test('a driver that loads its native part late, and has none, is passed over', async () => {
  class Unbuilt {
    constructor() {
      throw new Error('Could not locate the bindings file');
    }
  }
  jest.doMock('better-sqlite3', () => ({ __esModule: true, default: Unbuilt }), { virtual: true });
  const { name, open } = await loadDriver();
  expect(name).toBe('libsql');
  open(':memory:').close();
});
