import { durationOf } from '../arguments.js';
import { ASKS, CHANGE_OPTIONS, change, KEY } from '../change.js';
import type { CommandDefinition } from '../command.js';
import type { KeyReport } from '../key-report.js';

const isBlocked = ({ seen }: KeyReport): boolean =>
  seen?.policies.some(({ blockedUntil }) => blockedUntil > seen.now) === true;

export const block: CommandDefinition = {
  name: 'block',
  arguments: [KEY],
  options: [{ flags: '--for <duration>', description: 'how long: 15m, 1h, 7d' }, ...CHANGE_OPTIONS],
  summary: 'deny all calls of a key for a time',
  description: `Denies all calls of a key for a time. The key keeps its count. ${ASKS}`,
  example: [
    'block 203.0.113.7 --limiter login --for 1h',
    'Asks, and denies every call of that address for an hour.',
  ],
  writes: true,
  run(context, [key = ''], options) {
    const duration = durationOf('--for', options.for);
    return change(context, key, options, {
      verb: 'Block',
      done: 'blocked',
      how: ` for ${duration}`,
      apply: (limiter) => limiter.block(key, duration),
    });
  },
};

export const unblock: CommandDefinition = {
  name: 'unblock',
  arguments: [KEY],
  options: CHANGE_OPTIONS,
  summary: 'end the block of a key',
  description: `Ends the block of a key, at every limiter that blocks it or at one. The key keeps its count. ${ASKS}`,
  example: ['unblock 203.0.113.7', 'Finds the limiters that block the address, asks, and ends the blocks.'],
  writes: true,
  run: (context, [key = ''], options) =>
    change(context, key, options, {
      verb: 'Unblock',
      done: 'unblocked',
      concerns: isBlocked,
      nothing: 'No known limiter blocks this key. What else denies it: sluice inspect KEY.',
      apply: (limiter) => limiter.unblock(key),
      advice: ({ seen }) =>
        seen?.allowed === false
          ? 'Calls are still denied, because the key keeps its count. To let them pass now: sluice reset KEY.'
          : undefined,
    }),
};

export const reset: CommandDefinition = {
  name: 'reset',
  arguments: [KEY],
  options: CHANGE_OPTIONS,
  summary: 'give a key all its permits back',
  description:
    'Clears what a key took, its bookings and its block, at every limiter that knows it or at one. An override stays. Permits that ' +
    `are held come free before their holders are done. ${ASKS}`,
  example: ['reset ann@example.com --limiter login', 'Asks, and lets ann begin with a whole limit.'],
  writes: true,
  run: (context, [key = ''], options) =>
    change(context, key, options, {
      verb: 'Reset',
      done: 'reset',
      concerns: ({ seen }) => seen?.known === true,
      nothing: 'No known limiter knows this key: it has all its permits.',
      apply: (limiter) => limiter.reset(key),
    }),
};
