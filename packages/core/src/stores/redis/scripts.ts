import type { Script } from '../../algorithms/algorithm.js';
import { boardScript } from '../../board/board.script.js';
import { sharedTextScript } from '../../board/shared-text.script.js';
import { decideScript } from '../../engine/decide.script.js';
import { claimScript } from '../claim.script.js';
import { lookScript } from '../look.script.js';
import { sharedRateScript } from '../shared-rate.script.js';

/** Every script that a store sends to Redis. Limiters need the first one for each decision. */
export const redisScripts: readonly Script[] = [
  decideScript,
  sharedRateScript,
  boardScript,
  sharedTextScript,
  lookScript,
  claimScript,
];
