import type { Check } from '../check.js';
import { clock } from './clock.js';
import { commands } from './commands.js';
import { connections } from './connections.js';
import { database } from './database.js';
import { eviction } from './eviction.js';
import { failures } from './failures.js';
import { layouts } from './layouts.js';
import { memory } from './memory.js';
import { minReplicas } from './min-replicas.js';
import { persistence } from './persistence.js';
import { processes } from './processes.js';
import { replication } from './replication.js';
import { rights } from './rights.js';
import { roundTrip } from './round-trip.js';
import { rules } from './rules.js';
import { scripts } from './scripts.js';
import { sentinels } from './sentinels.js';
import { server } from './server.js';
import { service } from './service.js';
import { slots } from './slots.js';
import { topology } from './topology.js';
import { unreachable } from './unreachable.js';

/** All checks, in the order in which findings of one level are reported. */
export const CHECKS: readonly Check[] = [
  unreachable,
  sentinels,
  topology,
  slots,
  server,
  service,
  database,
  commands,
  rights,
  eviction,
  memory,
  persistence,
  replication,
  minReplicas,
  clock,
  roundTrip,
  scripts,
  layouts,
  processes,
  rules,
  connections,
  failures,
];
