import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../support/bundle.js';
import { NEW_CASES, TEST_SEED } from '../support/random.js';
import { run } from '../support/run.js';
import { productBundle } from './build.js';
import type { Mutant } from './mutants.js';
import type { Broken } from './simulate.js';

/** What program.ts prints. */
export interface Result {
  readonly broken?: Broken;
  /** How many seeds ran. */
  readonly seeds: number;
}

/** One seed to replay: `SLUICE_SEED=n npx jest tests/simulation`. */
const REPLAYED = process.env.SLUICE_SEED === undefined ? undefined : Number(process.env.SLUICE_SEED);

/** The first seed: `npm run test:random` has others each time. */
const first = NEW_CASES ? TEST_SEED : 0;

/** Simulates in processes of their own, because Jest's sandbox makes every use of a global slow. */
export class Simulation {
  readonly #program = bundle(join(__dirname, 'program.ts'));
  #product: Promise<string> | undefined;

  async close(): Promise<void> {
    await (await this.#program).remove();
  }

  /** @param from the first of these seeds */
  async #run(from: number, seeds: number, mutant?: Mutant): Promise<Result> {
    const { file } = await this.#program;
    const folder = await mkdtemp(join(tmpdir(), 'sluice-simulation-'));
    const product = join(folder, 'product.cjs');
    this.#product ??= mutant === undefined ? productBundle() : undefined;
    await writeFile(product, await (mutant === undefined ? this.#product! : productBundle(mutant)));
    const args = [file, product, String(from), String(seeds), mutant?.tableFault ?? ''];
    const { ok, output } = await run(process.execPath, args, { timeoutMs: 600_000 });
    await rm(folder, { recursive: true });
    if (!ok) throw new Error(output);
    return JSON.parse(output) as Result;
  }

  /** Runs the seeds, half of them in each of two processes. Throws the story of the first that breaks a promise. */
  async holds(seeds: number): Promise<void> {
    const half = Math.ceil(seeds / 2);
    const results =
      REPLAYED === undefined
        ? await Promise.all([this.#run(first, half), this.#run(first + half, seeds - half)])
        : [await this.#run(REPLAYED, 1)];
    for (const { broken } of results) if (broken !== undefined) throw new Error(textOf(broken));
  }

  /** Runs seeds until one breaks a promise. */
  find(mutant: Mutant, most: number): Promise<Result> {
    return this.#run(mutant.first ?? 0, most, mutant);
  }
}

const textOf = ({ seed, promise, how, story }: Broken): string =>
  `SLUICE_SEED=${seed} npx jest tests/simulation\n${promise} is broken: ${how}\n\n${story}`;
