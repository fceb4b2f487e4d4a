import type { CommandDefinition } from '../command.js';
import { doctor } from './doctor.js';
import { inspect } from './inspect.js';
import { ls } from './ls.js';

/** In the order of the help. */
export const COMMANDS: readonly CommandDefinition[] = [ls, inspect, doctor];
