// Generated from claim.lua by `npm run scripts`: change those, not this.
import type { Script } from '../algorithms/algorithm.js';

export const claimScript: Script = {
  name: 'claim',
  sha1: '1be30938ac86eb0571763484910218541b125d6d',
  source: `return redis.call('SET', KEYS[1], '', 'PX', ARGV[1], 'NX') and 1 or 0`,
};
