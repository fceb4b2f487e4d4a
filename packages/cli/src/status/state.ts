import { performance } from 'node:perf_hooks';
import { LAYOUT } from '@sluice/core/internal';
import type { FleetProcess, UsageReport } from '@sluice/fleet';
import type { Context } from '../command.js';
import { type Fleet, fleetOf, isNews, type KnownLimiter, newerLayout, ofNewerLayout } from '../fleet.js';
import { type FleetProblem, fleetProblems } from '../fleet-problems.js';
import { type Rates, ratesOf } from '../rates.js';
import { countsOf, type ListedKey, topRows } from '../usage.js';

/** All limiters of one name: during an update they may differ in their policies. */
export interface LimiterState {
  readonly name: string;
  /** The one that was published last. */
  readonly known: KnownLimiter;
  readonly processes: readonly FleetProcess[];
  /** Of the last minute. Undefined: no process counted a call of it. */
  readonly rates: Rates | undefined;
}

/** A store and its fleet at one moment. */
export interface State {
  /** How long one small answer takes, µs: the middle one of three. */
  readonly roundTrip: number;
  readonly fleet: Fleet;
  readonly usage: UsageReport;
  /** The most denied ones first. */
  readonly limiters: readonly LimiterState[];
  /** Keys that were denied most in the last minute. */
  readonly denied: readonly ListedKey[];
  readonly problems: readonly FleetProblem[];
}

/** The most keys that are named. */
const MOST_KEYS = 5;
const MINUTE = 60;

/** Reads what `ls` and `top` read, and three small answers more. @throws CliError; all errors of the store */
export async function readState(context: Context): Promise<State> {
  const roundTrip = await roundTripOf(context);
  const [fleet, usage, stored] = await Promise.all([
    fleetOf(context),
    countsOf(context),
    newerLayout(context),
  ]);
  const newer = stored ?? fleet.processes.find(({ layout }) => layout !== LAYOUT)?.layout;
  return {
    roundTrip,
    fleet,
    usage,
    limiters: limitersOf(fleet, usage),
    denied: topRows(usage, fleet, 'recentlyDenied', MOST_KEYS).found,
    problems: [...layoutProblem(newer), ...fleetProblems({ processes: fleet.processes, usage, roundTrip })],
  };
}

const layoutProblem = (newer: string | undefined): FleetProblem[] =>
  newer === undefined
    ? []
    : [{ id: 'layout-newer', level: 'warning', what: ofNewerLayout(newer), next: 'ls --processes' }];

async function roundTripOf({ redis, store, ask }: Context): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    const began = performance.now();
    await ask<unknown>(redis === undefined ? store.texts.kept(['sluice']) : redis.client.time());
    times.push(performance.now() - began);
  }
  return Math.round(times.sort((one, other) => one - other)[1]! * 1_000);
}

function limitersOf(fleet: Fleet, usage: UsageReport): LimiterState[] {
  const byName = new Map<string, KnownLimiter[]>();
  for (const known of fleet.limiters.filter((one) => isNews(one, fleet))) {
    const { name } = known.definition;
    byName.set(name, [...(byName.get(name) ?? []), known]);
  }
  const states = [...byName].map(([name, all]): LimiterState => {
    const report = usage.limiters.find(({ limiter }) => limiter === name);
    return {
      name,
      known: all[0]!,
      processes: [...new Set(all.flatMap(({ processes }) => processes))],
      rates: report && ratesOf(report, MINUTE),
    };
  });
  const perSecond = ({ rates }: LimiterState, what: 'allowed' | 'denied') => rates?.[what] ?? 0;
  return states.sort(
    (one, other) =>
      perSecond(other, 'denied') - perSecond(one, 'denied') ||
      perSecond(other, 'allowed') - perSecond(one, 'allowed') ||
      (one.name < other.name ? -1 : 1),
  );
}
