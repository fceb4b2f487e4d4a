import { setTimeout as sleep } from 'node:timers/promises';
import { isSluiceError } from '@sluice/core';
import { toMicros } from '@sluice/core/internal';
import { CliError, cliErrorOf } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { fleetOf, type KnownLimiter, named, withKeys } from '../fleet.js';
import { linesOf, lookAt } from '../key-report.js';
import { Screen } from '../screen.js';
import { table, wrapped } from '../text.js';
import { rateRows, topRows, usageOf } from '../usage.js';
import { timeOf } from '../words.js';

export const watch: CommandDefinition = {
  name: 'watch',
  arguments: [['[key]', 'watch this key, instead of all limiters']],
  options: [
    { flags: '--limiter <name>', description: 'only this limiter' },
    { flags: '--every <duration>', description: 'how often', default: '2s' },
  ],
  summary: 'watch calls, or one key, as they change',
  description:
    'Shows calls per second and the keys that are denied most, or the state of one key, again and again until Ctrl-C, also while Redis ' +
    'restarts. Without a key it needs processes with the option usage of their store. In a pipe each view follows the one before.',
  example: ['watch 203.0.113.7 --limiter login', 'Shows how the permits of that address come back.'],
  writes: false,
  async run(context, [key], { limiter, every }) {
    const { output, signal } = context;
    const pause = toMicros('--every', String(every), 100_000) / 1_000;
    const name = typeof limiter === 'string' ? limiter : undefined;
    const limiters = key === undefined ? [] : await limitersOf(context, name);
    const look = () => (key === undefined ? callsView(context, name) : keyView(context, limiters, key));
    // Before the first success, an error ends the command: the setup can be wrong.
    let view = await look();
    const screen = new Screen(output);
    screen.open();
    try {
      while (!signal.aborted) {
        const head = `${timeOf(Date.now() * 1_000, Date.now() * 1_000)}  every ${every}, Ctrl-C ends it`;
        screen.draw([output.style('dim', head), ...view]);
        await sleep(pause, undefined, { signal }).catch(() => {});
        if (!signal.aborted) view = await look().catch((error) => problemView(context, error));
      }
    } finally {
      screen.close();
    }
    return 0;
  },
};

/** Shows the error, because Redis can come back. @throws an error that is a bug of the CLI */
function problemView({ output, address }: Context, error: unknown): string[] {
  if (!isSluiceError(error) && !(error instanceof CliError)) throw error;
  const { message } = cliErrorOf(error, address);
  output.json({ problem: message });
  return [
    ...wrapped(message, output.width).map((line) => output.style('red', line)),
    'The next attempt follows.',
  ];
}

async function limitersOf(context: Context, name: string | undefined): Promise<KnownLimiter[]> {
  const fleet = await fleetOf(context);
  return name === undefined ? withKeys(fleet) : named(fleet, name);
}

async function callsView(context: Context, name: string | undefined): Promise<string[]> {
  const { output } = context;
  const usage = await usageOf(context);
  const { heads, rows, rates } = rateRows(usage, 10, name);
  const {
    heads: topHeads,
    rows: topKeys,
    found,
  } = topRows(usage, await fleetOf(context), 'denied', 10, name);
  output.json({ rates, denied: found });
  const lists = topKeys.length === 0 ? [] : ['', ...table(topHeads, topKeys, output.width)];
  return [...table(heads, rows, output.width), ...lists];
}

async function keyView(context: Context, limiters: readonly KnownLimiter[], key: string): Promise<string[]> {
  const { output } = context;
  const reports = await Promise.all(limiters.map((limiter) => lookAt(context, limiter, key)));
  return reports.flatMap(({ limiter, seen, problem }) => {
    const { name } = limiter.definition;
    output.json({ limiter: name, key, problem, ...seen });
    if (seen === undefined) return wrapped(`${name} cannot be read: ${problem}.`, output.width);
    if (!seen.known && limiters.length > 1) return [];
    return seen.policies.flatMap((policy) => {
      const label = policy.name === name ? name : `${name}, ${policy.name}`;
      const level = bar(policy.remaining, policy.limit, Math.min(40, output.width - 4));
      return [
        output.style('bold', label),
        `  ${level}`,
        ...linesOf(policy, seen.now).flatMap((line) => wrapped(line, output.width, '  ')),
      ];
    });
  });
}

/** The remaining permits as a bar. */
function bar(remaining: number, limit: number, width: number): string {
  const filled = limit === 0 ? 0 : Math.round((Math.min(remaining, limit) / limit) * width);
  return '█'.repeat(Math.max(0, filled)) + '░'.repeat(width - Math.max(0, filled));
}
