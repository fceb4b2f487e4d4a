import { soak } from '../soak.js';
import { complaints, tables } from '../verdict.js';

// `npm run soak` does this for ten minutes.
test('twenty seconds of faults leak nothing and cause no wrong, late or missing answer', async () => {
  const outcome = await soak(20_000, 600);
  const found = complaints(outcome);
  if (found.length > 0) process.stdout.write(`\n${tables(outcome)}\n\n`);
  expect(found).toEqual([]);
}, 180_000);
