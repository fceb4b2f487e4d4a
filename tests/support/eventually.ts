import { inspect } from 'node:util';
import { within } from './within.ts';

const PATIENCE = 40_000;
const PAUSE = 25;

/**
 * Looks again until the result is neither `undefined` nor `false`. The error after that shows the function, and its last result.
 * @param pause ms between two looks; 0 for what happens within this process
 * @param patience ms of all looks; less than the time that Jest gives the test
 */
export async function eventually<T>(
  look: () => Promise<T | undefined | false>,
  pause = PAUSE,
  patience = PATIENCE,
): Promise<T> {
  let overdue = false;
  let seen: T | undefined | false;
  const looking = async (): Promise<T> => {
    for (;;) {
      seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      if (overdue) throw new Error('Nothing waits for this any more');
      await new Promise((resolve) => (pause === 0 ? setImmediate(resolve) : setTimeout(resolve, pause)));
    }
  };
  try {
    return await within(looking(), () => `${look}\nreturned ${inspect(seen)}`, patience);
  } finally {
    overdue = true;
  }
}
