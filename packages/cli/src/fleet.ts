import { LAYOUT, type LimiterDefinition, type MeterDefinition } from '@sluice/core/internal';
import { type FleetProcess, readDefinitions } from '@sluice/fleet';
import { CliError } from './cli-error.js';
import type { Context } from './command.js';

/** A limiter, and the processes that have it. */
export interface KnownLimiter {
  readonly definition: LimiterDefinition;
  /** For a factory: the published limiter that has these policies, if this one was not published. */
  readonly like?: string;
  readonly processes: readonly FleetProcess[];
}

export interface Fleet {
  readonly processes: readonly FleetProcess[];
  /** The limiters by name. Two limiters of one name differ in their policies, as during a rollout. */
  readonly limiters: readonly KnownLimiter[];
}

/** The definitions that processes published. */
export async function fleetOf({ store, ask, notes }: Context): Promise<Fleet> {
  const processes = await ask(readDefinitions(store, notes.leftOut));
  const limiters = new Map<string, { definition: LimiterDefinition; processes: FleetProcess[] }>();
  for (const process of processes) {
    for (const definition of process.limiters) {
      const id = JSON.stringify(definition);
      const known = limiters.get(id);
      if (known === undefined) limiters.set(id, { definition, processes: [process] });
      else known.processes.push(process);
    }
  }
  const byName = (one: KnownLimiter, other: KnownLimiter) =>
    one.definition.name < other.definition.name ? -1 : 1;
  return { processes, limiters: [...limiters.values()].sort(byName) };
}

/** The meters, which are no limiters: their axes are. */
export const metersOf = ({ limiters }: Fleet): KnownLimiter[] =>
  limiters.filter(({ definition }) => definition.meter !== undefined);

/** The name of an axis as a limiter. */
export const axisName = (meter: string, axis: string): string => `${meter}:${axis}`;

/** The names of the limiters that are axes of meters. @param only of this meter */
export const axesOf = (fleet: Fleet, only?: string): ReadonlySet<string> =>
  new Set(
    metersOf(fleet).flatMap(({ definition: { name, meter } }) =>
      only === undefined || only === name ? Object.keys(meter!.axes).map((axis) => axisName(name, axis)) : [],
    ),
  );

/** The limiters with keys of users. */
export const withKeys = ({ limiters }: Fleet): KnownLimiter[] =>
  limiters.filter(({ definition }) => Object.keys(definition.policies).length > 0);

/**
 * A combination of a single limiter, such as for a request that one rule matches, is redundant if that limiter is in the list. So is a meter:
 * its axes are limiters.
 */
export function isNews({ definition: { members, meter } }: KnownLimiter, { limiters }: Fleet): boolean {
  if (meter !== undefined) return false;
  const [member, another] = Object.values(members ?? {});
  return another !== undefined || !limiters.some(({ definition: { name } }) => name === member);
}

/** A factory publishes only its latest limiter. This returns it under another name. */
function renamed({ definition, processes }: KnownLimiter, name: string): KnownLimiter {
  const { name: like, keyPrefix, policies, prefixes, several } = definition;
  const rename = <T>(byPolicy: Readonly<Record<string, T>>) =>
    several ? byPolicy : { [name]: Object.values(byPolicy)[0]! };
  const moved = Object.entries(prefixes).map(([policy, prefix]): [string, string] => {
    // keyPrefix:layout:tag:name:{ or keyPrefix:layout:tag:name|policy:{
    const [layout = '', tag = ''] = prefix.slice(keyPrefix.length + 1).split(':');
    const head = `${keyPrefix}:${layout}:${tag}:`;
    return [policy, `${head}${name}${prefix.slice(head.length + like.length)}`];
  });
  const own = { name, policies: rename(policies), prefixes: rename(Object.fromEntries(moved)) };
  return { definition: { ...definition, ...own }, processes, like };
}

/** The limiters of a name. @throws CliError if there is none */
export function named(fleet: Fleet, name: string): KnownLimiter[] {
  const found = withKeys(fleet).filter(({ definition }) => definition.name === name);
  if (found.length > 0) return found;
  // An upstream's keys are the keys of its limiter for pauses.
  const paused = withKeys(fleet).filter(({ definition }) => definition.name === `${name}:pauses`);
  if (paused.length > 0) return paused;
  const keyless = fleet.limiters.filter(({ definition }) => definition.name === name);
  if (keyless.length > 0) throw withoutKeys(name, keyless);
  const factories = withKeys(fleet).filter(({ definition }) => definition.kind === 'factory');
  if (factories.length > 0) return factories.map((factory) => renamed(factory, name));
  const atOnce = metersOf(fleet).find(({ definition }) => name.startsWith(`${definition.name}:`));
  const axis = atOnce && name.slice(atOnce.definition.name.length + 1);
  if (axis !== undefined && Object.hasOwn(atOnce!.definition.meter!.axes, axis))
    throw new CliError(
      `Axis '${axis}' of meter '${atOnce!.definition.name}' limits what runs at once, and has no numbers of a key.`,
      `sluice explain ${atOnce!.definition.name} KEY shows what is held. It is released when its calls end or lapse.`,
    );
  const names = [...new Set(withKeys(fleet).map(({ definition }) => definition.name))];
  throw new CliError(
    `No process has published a limiter '${name}'.`,
    names.length === 0 ? NOBODY : `Known are: ${names.join(', ')}.`,
    1,
  );
}

function withoutKeys(name: string, limiters: readonly KnownLimiter[]): CliError {
  const [meter] = limiters.flatMap(({ definition }) => definition.meter ?? []);
  if (meter !== undefined) return ofMeter(name, meter);
  if (limiters.some(({ definition }) => definition.kind === 'shared'))
    return new CliError(
      `'${name}' is a shared rate: it counts all callers together, and has no keys.`,
      'A process reads it with availablePermits(), and changes it with updateRate(…): docs/shared-limits.md.',
    );
  const all = limiters.flatMap(({ definition: { members = {} } }) => Object.values(members));
  const names = [...new Set(all)];
  return new CliError(
    `'${name}' combines the limiters ${names.join(', ')}, each with a key of its own.`,
    `Give the one whose key it is: ${names.join(' or ')}.`,
  );
}

/** A meter, or its axis of what runs at once, where a limiter is needed. */
function ofMeter(name: string, { axes }: MeterDefinition): CliError {
  const names = Object.entries(axes)
    .filter(([, { algorithm }]) => algorithm !== 'concurrency')
    .map(([axis]) => axisName(name, axis));
  const said = `'${name}' is a meter, and this command takes one of its axes.`;
  if (names.length === 0)
    return new CliError(said, 'Its axes limit what runs at once: change them in the program.');
  return new CliError(said, `Give the axis: --limiter ${names.join(', or --limiter ')}.`);
}

/** The plans that are known of a limiter; the first is the plan of its numbers. */
export const plansOf = ({ definition: { plans = {} } }: KnownLimiter): string[] => Object.keys(plans);

/** The limiter with the numbers of a plan. @throws CliError if the plan is unknown */
export function ofPlan(limiter: KnownLimiter, plan: string): KnownLimiter {
  const { definition } = limiter;
  const { name, plans = {} } = definition;
  if (Object.hasOwn(plans, plan)) {
    const { policies, escalate, cost } = plans[plan]!;
    return { ...limiter, definition: { ...definition, policies, escalate, cost } };
  }
  const known = plansOf(limiter).join(', ');
  if (known === '')
    throw new CliError(`The numbers of limiter '${name}' do not depend on a plan.`, 'Leave out --plan.');
  throw new CliError(`Limiter '${name}' has no plan '${plan}'.`, `Known are: ${known}.`);
}

/** A note on limiters that a search without --limiter omits: a factory publishes one of many. Undefined if nothing was omitted. */
export function notLookedAt(limiters: readonly KnownLimiter[]): string | undefined {
  const factory = limiters.find(
    ({ definition, like }) => definition.kind === 'factory' && like === undefined,
  );
  if (factory === undefined) return undefined;
  const name = factory.definition.name;
  return `'${name}' is one of the limiters of a factory: for another one give its name, --limiter NAME.`;
}

/** Possible reasons why no limiter is known. */
export const NOBODY =
  'A process publishes its limiters a second after its first decision, and is forgotten three minutes after its end. Is this the ' +
  'right store? Has its Redis client a keyPrefix (--client-prefix), or its store definitions: false?';

/** Layouts of later versions, which this one cannot read. */
const NEWER = Array.from({ length: 8 }, (_, i) => `v${Number(LAYOUT.slice(1)) + 1 + i}`);

/** Do processes run a version whose keys this version cannot read? */
export async function newerLayout({ redis, store, ask }: Context): Promise<string | undefined> {
  const keys = NEWER.map((layout) => `sluice:${layout}:fleet:definitions:{index}`);
  // In Redis the index is no text.
  const found =
    redis === undefined
      ? await ask(store.texts.kept(keys))
      : (await Promise.all(keys.map((key) => ask(redis.client.pttl(key))))).map((ttl) => ttl > 0);
  return NEWER.find((_, i) => found[i]);
}

export const ofNewerLayout = (layout: string): string =>
  `Some processes store their keys in the newer layout ${layout}, which this version cannot read: update @sluice/cli.`;

/** Notes an unknown name, because nothing would be shown. It is not an error: the limiter can be published later. */
export function noteUnknown({ notes }: Context, { limiters }: Fleet, limiter: string): void {
  const isKnown = limiters.some(({ definition: { name, kind } }) => name === limiter || kind === 'factory');
  if (isKnown || limiters.length === 0) return;
  const names = [...new Set(limiters.map(({ definition }) => definition.name))].join(', ');
  notes.say(`No process has published a limiter '${limiter}'. Known are: ${names}.`);
}
