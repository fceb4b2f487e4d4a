import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../../support/bundle.js';
import { eventually } from '../../../support/eventually.js';
import { randomFrom, seedOf } from '../../../support/random.js';
import type { StoreAddress } from '../race-run.js';
import type { Entry } from './recording.js';

const PROCESSES = 8;
/** Lines of a process that has hardly begun. */
const MOST_IDLE = 30;

interface Racer {
  readonly child: ChildProcess;
  readonly lines: Entry[];
}

/**
 * Eight processes hold, stream and settle. One after the other is killed, and another begins; at last all are killed.
 * @returns the lines of each process
 */
export async function raceOfHolds(place: StoreAddress, kills: number): Promise<Entry[][]> {
  const { file, remove } = await bundle(join(__dirname, 'program.ts'));
  const racers: Racer[] = [];
  const start = (): Racer => {
    const args = [file, JSON.stringify(place), String(seedOf(100 + racers.length))];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const racer: Racer = { child, lines: [] };
    racers.push(racer);
    createInterface(child.stdout!).on('line', (line) => {
      // The last line of a killed process may be cut off.
      if (line.endsWith('}')) racer.lines.push(JSON.parse(line));
    });
    return racer;
  };
  const running = Array.from({ length: PROCESSES }, start);
  const end = async ({ child }: Racer) => {
    if (child.exitCode !== null) throw new Error('a racing process ended: see its error above');
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  };
  try {
    const random = randomFrom(seedOf(99));
    for (let kill = 0; kill < kills; kill += 1) {
      const [victim] = running.splice(random(PROCESSES), 1) as [Racer];
      running.push(victim);
      await eventually(async () => victim.lines.length > MOST_IDLE);
      await sleep(random(400));
      await end(running.pop()!);
      running.push(start());
    }
    await eventually(async () => running.every(({ lines }) => lines.length > MOST_IDLE));
    await Promise.all(running.splice(0).map(end));
    return racers.map(({ lines }) => lines);
  } finally {
    for (const { child } of running) child.kill('SIGKILL');
    await remove();
  }
}
