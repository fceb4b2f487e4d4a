import { seedOf } from '../../support/random.js';
import { compareHolds } from './holds-check.js';

/** With these seeds, these few histories contain every kind of answer. */
const QUICK = 8;

test('Lua holds and settles as TypeScript does', async () => {
  expect(await compareHolds(QUICK, seedOf(0))).toEqual(
    expect.arrayContaining([
      ...['hold allowed', 'hold denied', 'hold never', 'settle allowed', 'settle never'],
      ...['keep', 'refund', 'more'],
    ]),
  );
}, 60_000);
