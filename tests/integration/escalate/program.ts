import { subscribe } from '../../../packages/core/src/index.js';
import { open, type Work } from './escalating.js';

/** The result of one round of calls in a process. */
export interface Round {
  /** The blocks that this process published: key, step, hours. */
  readonly blocks: readonly string[];
  /** For each key, the calls that were denied while it was not blocked. */
  readonly free: readonly number[];
}

/** Calls of one key in a round of one process, in batches. */
const [TURNS, EACH] = [4, 5];
const HOUR = 3_600_000;

async function main(work: Work): Promise<void> {
  const { limiter, close } = open(work);
  let blocks: string[] = [];
  subscribe('sluice:escalated', ({ key, step, blockedFor }) => {
    blocks.push(`${key} ${step} ${Math.round(blockedFor / HOUR)} h`);
  });
  const callsOf = async (key: string): Promise<number> => {
    let free = 0;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const calls = Array.from({ length: EACH }, () => limiter.consume(key));
      for (const { blockedFor } of await Promise.all(calls)) if (blockedFor === undefined) free += 1;
    }
    return free;
  };
  process.on('message', async () => {
    blocks = [];
    const free = await Promise.all(work.keys.map(callsOf));
    process.send!({ blocks, free } satisfies Round);
  });
  process.once('disconnect', () => void close());
  await limiter.peek(work.keys[0]!); // connects
  process.send!('ready');
}

void main(JSON.parse(process.argv[2]!) as Work);
