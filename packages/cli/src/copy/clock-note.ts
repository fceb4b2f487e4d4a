import { askedOf, askedOfOther } from '../connected.js';
import { type Connection, entriesOf } from '../connection.js';
import { lengthOfMicros } from '../words.js';

/** µs: a greater difference is worth a note. */
const NOTABLE = 1_000_000;

/** What a difference of the clocks of two stores means for entries that are carried. @returns undefined if the clocks agree */
export async function clockNote(from: Connection, to: Connection): Promise<string | undefined> {
  const before = await askedOf(from, entriesOf(from).now());
  const there = await askedOfOther(to, entriesOf(to).now());
  const after = await askedOf(from, entriesOf(from).now());
  const ahead = Math.round(there - (before + after) / 2);
  if (Math.abs(ahead) < NOTABLE + (after - before) / 2) return undefined;
  const how = `${lengthOfMicros(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`;
  return `The clock of ${to.address} is ${how} the clock of ${from.address}: permits come back that much ${ahead > 0 ? 'earlier' : 'later'}.`;
}
