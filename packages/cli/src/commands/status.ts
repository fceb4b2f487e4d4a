import { isStoreUnavailableError } from '@sluice/core';
import { CliError, cliErrorOf } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { connected } from '../connected.js';
import { nextSteps, type Step } from '../status/next.js';
import { render } from '../status/render.js';
import { readState, type State } from '../status/state.js';

/** Also what `sluice` does without a command. */
export const status: CommandDefinition = {
  name: 'status',
  arguments: [],
  options: [],
  summary: 'the state at a glance; also without a command',
  description:
    'Shows how fast the store answers, the limiters and their calls, the keys that were denied most, what is wrong, and what to do next. ' +
    'Calls and keys need processes with the option usage of their store. Exits with 2 if the state could not be read.',
  example: ['status', 'redis://127.0.0.1:6379 answers in 0.4 ms. 3 processes on 2 hosts have 2 limiters.'],
  writes: false,
  offline: true, // a store that is out is a state, too
  async run(context) {
    if (!context.isGiven) throw NOWHERE;
    const state = await readFrom(context);
    const steps = nextSteps(state, hasDoctor(context));
    context.output.json(stateValue(context, state, steps));
    context.output.lines(render(context, state, steps));
    return 0;
  },
};

const NOWHERE = new CliError(
  'No store is given. Name the one that your processes use, or export it as SLUICE_STORE:',
  [
    'redis://127.0.0.1:6379',
    'postgres://user@host/database',
    'sqlite:limits.db',
    'https://eu1-name.upstash.io',
  ]
    .map((address) => `$ sluice --store ${address}\n`)
    .join('')
    .concat('All commands and options: sluice --help'),
);

/** Has `doctor` checks for the store? */
const hasDoctor = ({ redis, examine }: Context): boolean => redis !== undefined || examine !== undefined;

/** @throws CliError that says what holds while the store is out, and what to do */
async function readFrom(context: Context): Promise<State> {
  try {
    await connected(context);
    return await readState(context);
  } catch (error) {
    const { address, output, storeFlags = '' } = context;
    const { message, remedy, exitCode } = cliErrorOf(error, address);
    output.json({ store: { address, problem: message } });
    const lines = [
      remedy,
      isStoreUnavailableError(error) &&
        'While processes get no answer from it either, the failurePolicy of each limiter decides.',
      hasDoctor(context) && `What is wrong with the store: sluice ${storeFlags}doctor`,
    ];
    throw new CliError(message, lines.filter(Boolean).join('\n'), exitCode);
  }
}

/** The same facts for programs. Lengths are µs, rates are calls per second. */
function stateValue({ address, store, storeFlags = '' }: Context, state: State, next: readonly Step[]) {
  const { roundTrip, fleet, usage, limiters, denied, problems } = state;
  const ids = (processes: readonly { readonly process: string }[]) => processes.map(({ process }) => process);
  return {
    store: { address, name: store.name, roundTrip },
    processes: fleet.processes.map(({ process, host, pid, version }) => ({ process, host, pid, version })),
    limiters: limiters.map(({ name, known, processes, rates }) => {
      const { kind, policies, members } = known.definition;
      const counted = rates && { allowed: rates.allowed, denied: rates.denied, errors: rates.errors };
      return { limiter: name, kind, policies, members, processes: ids(processes), ...counted };
    }),
    counting: ids(usage.processes),
    keys: usage.keys,
    denied,
    problems,
    next: next.map(({ command, does }) => ({ command: `sluice ${storeFlags}${command}`, does })),
  };
}
