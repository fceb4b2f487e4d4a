import type { CommandDefinition } from '../command.js';
import { block, reset, unblock } from './block.js';
import { check } from './check.js';
import { copy } from './copy.js';
import { dashboard } from './dashboard.js';
import { diff } from './diff.js';
import { doctor } from './doctor.js';
import { explain } from './explain.js';
import { inspect } from './inspect.js';
import { ls } from './ls.js';
import { override, penalty, reward } from './override.js';
import { push } from './push.js';
import { resume } from './resume.js';
import { rollback } from './rollback.js';
import { rules } from './rules.js';
import { serve } from './serve.js';
import { simulate } from './simulate.js';
import { stats } from './stats.js';
import { status } from './status.js';
import { tail } from './tail.js';
import { top } from './top.js';
import { watch } from './watch.js';

/** In the order of the help. */
export const COMMANDS: readonly CommandDefinition[] = [
  status,
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
  diff,
  rules,
  simulate,
  unblock,
  resume,
  reset,
  override,
  block,
  reward,
  penalty,
  push,
  rollback,
  copy,
  serve,
];
