import type { CommandDefinition } from '../command.js';
import { block, reset, unblock } from './block.js';
import { check } from './check.js';
import { dashboard } from './dashboard.js';
import { doctor } from './doctor.js';
import { explain } from './explain.js';
import { inspect } from './inspect.js';
import { ls } from './ls.js';
import { override, penalty, reward } from './override.js';
import { stats } from './stats.js';
import { tail } from './tail.js';
import { top } from './top.js';
import { watch } from './watch.js';

/** In the order of the help. */
export const COMMANDS: readonly CommandDefinition[] = [
  ls,
  explain,
  inspect,
  top,
  tail,
  stats,
  watch,
  dashboard,
  doctor,
  check,
  unblock,
  reset,
  override,
  block,
  reward,
  penalty,
];
