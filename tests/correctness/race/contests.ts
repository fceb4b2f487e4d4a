import { merged } from '../../support/conformance/all.js';
import type { Contest as Unnamed } from '../../support/conformance/conformance.js';

export interface Contest extends Unnamed {
  readonly name: string;
}

const modes = merged<Unnamed>((record) => record.contests);

/** Every rate algorithm in each of its modes. */
export const contests: readonly Contest[] = Object.entries(modes).map(([name, mode]) => ({ name, ...mode }));
