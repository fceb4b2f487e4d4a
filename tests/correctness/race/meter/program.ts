import { writeSync } from 'node:fs';
import { setPriority } from 'node:os';
import { randomFrom } from '../../../support/random.js';
import { connect } from '../connect.js';
import type { StoreAddress } from '../race-run.js';
import { recorded } from './recording.js';
import { metersOf, streams } from './streams.js';

// One of the racing processes: `race-of-holds.ts` bundles this file, starts it, and kills it. Each line that it writes is in the pipe before it goes on.

const IN_FLIGHT = 5;
/** One of `LOST` replies is lost. Postgres sends several to a call, and takes long to connect. */
const LOST = { file: 60, server: 60, postgres: 250 };

async function main(place: StoreAddress & { kind: keyof typeof LOST }, seed: number): Promise<void> {
  setPriority(5); // other tests may run beside this one and have priority
  const { store, proxy } = await connect(place);
  const lost = LOST[place.kind];
  proxy?.resetEvery(lost);
  const random = randomFrom(seed);
  const loses = () => proxy === undefined && random(lost) === 0;
  const write = (line: object) => void writeSync(1, `${JSON.stringify(line)}\n`);
  await streams(metersOf(recorded(store, write, loses)), random, IN_FLIGHT, () => false);
}

void main(JSON.parse(process.argv[2]!), Number(process.argv[3]));
