import { policyOf } from '../playground/policies.ts';
import { type Run, run } from '../playground/run.ts';
import { type State, stateOf } from '../playground/share.ts';
import { momentsOf } from '../playground/traffic.ts';

/** The limit of the home page, as the playground opens it: six permits, two more each second, four requests a second. */
export const HERO: State = {
  policies: [{ algorithm: 'tokenBucket', values: { capacity: '6', refill: '2', every: '1s' } }],
  traffic: { ...stateOf('tokenBucket').traffic, pattern: 'random', rate: '4', length: '12' },
  clicks: [],
};

/** In ms: the traffic, and then the time in which every permit comes back. The next showing begins as the first. */
export const LENGTH = 15_500;

/** The requests of `HERO`, decided by the core as the playground decides them. */
export const heroRun = (): Promise<Run> =>
  run({
    policy: policyOf(HERO.policies[0]!),
    moments: momentsOf(HERO.traffic),
    length: LENGTH,
    wait: undefined,
    holds: undefined,
  });
