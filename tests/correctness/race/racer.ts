import { setPriority } from 'node:os';
import { fractionsFrom } from '../../support/random.js';
import { decideCalls } from './calls-of-limiters.js';
import { consumeCalls } from './calls-of-the-store.js';
import { type Connected, connect } from './connect.js';
import { holdCalls } from './holdings.js';
import { type Course, type RaceRun, type RaceRunResult, type StoreAddress } from './race-run.js';

// One of the racing processes: `fleet.ts` bundles this file and starts it.

const CALLS = { consume: consumeCalls, hold: holdCalls, decide: decideCalls };

class Race {
  readonly #lossAt: number[];
  readonly #answers: number[] = [];
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #before: number;
  #calls = 0;
  over = false;

  constructor(
    readonly raceRun: RaceRun,
    readonly connected: Connected,
    readonly fraction: () => number,
  ) {
    const { calls = 0, resets = 0, resetEach } = raceRun;
    this.#before = connected.proxy?.lostReplies ?? 0;
    // At random moments, never two at once, nor at the start, when nearly every lost reply is an admission.
    this.#lossAt = Array.from({ length: resets }, (_, i) =>
      Math.floor((calls * (i + (1 + fraction()) / 2)) / resets),
    );
    if (resetEach !== undefined) {
      const lose = () => connected.proxy?.resetNextReply();
      this.#timer = setInterval(lose, resetEach * (0.5 + fraction()));
    }
  }

  async run(): Promise<RaceRunResult> {
    const course: Course = {
      raceRun: this.raceRun,
      fraction: this.fraction,
      goesOn: () => this.#goesOn(),
      record: (key, moment, cost, allowed, detail, degraded = false) => {
        this.#answers.push(key, moment, cost, Number(allowed), detail, Number(degraded));
      },
    };
    await CALLS[this.raceRun.kind](course, this.connected);
    clearInterval(this.#timer);
    return {
      calls: this.#calls,
      resets: (this.connected.proxy?.lostReplies ?? 0) - this.#before,
      answers: Float64Array.from(this.#answers),
    };
  }

  #goesOn(): boolean {
    if (this.over || this.#calls === this.raceRun.calls) return false;
    if (this.#calls === this.#lossAt[0]) {
      this.#lossAt.shift();
      this.connected.proxy?.resetNextReply();
    }
    this.#calls += 1;
    return true;
  }
}

async function main(place: StoreAddress, seed: number): Promise<void> {
  setPriority(5); // other tests may run beside this one and have priority
  const connected = await connect(place);
  let race: Race | undefined;
  process.on('message', async (message: RaceRun | 'over') => {
    if (message === 'over') {
      race!.over = true;
      return;
    }
    race = new Race(message, connected, fractionsFrom(seed));
    process.send!(await race.run());
  });
  // The test has ended or died.
  process.once('disconnect', () => process.exit());
  process.send!('ready');
}

void main(JSON.parse(process.argv[2]!), Number(process.argv[3]));
