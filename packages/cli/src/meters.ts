import type { Policy } from '@sluice/core';
import { LAYOUT } from '@sluice/core/internal';
import {
  type InspectedAxis,
  type InspectedScope,
  type InspectMeterOptions,
  inspectMeter,
} from '@sluice/meter/internal';
import { CliError, type ExitCode } from './cli-error.js';
import type { Context } from './command.js';
import { axisName, type Fleet, type KnownLimiter, metersOf } from './fleet.js';
import { problemOf } from './key-report.js';
import { processText, shownKey } from './text.js';
import { lengthOfMicros, listText, momentOf, policyOf, timeOf } from './words.js';

export const METER_HEADS = ['METER', 'AXIS', 'POLICY', 'SCOPES', 'PROCESSES'] as const;

/** A line for each axis; the name of the meter only once. */
export function meterRows({ definition, processes }: KnownLimiter): string[][] {
  const { name, meter } = definition;
  const { axes, soft, scopes, plans } = meter!;
  const [plan, ...others] = Object.keys(plans ?? {});
  const ofPlan = `, plan ${plan}${others.length > 0 ? `; others: ${others.join(', ')}` : ''}`;
  const varies = (axis: string) =>
    Object.values(plans ?? {}).some((of) => JSON.stringify(of[axis]) !== JSON.stringify(axes[axis]));
  return Object.entries(axes).map(([axis, policy], i) => [
    i === 0 ? name : '',
    axis,
    `${limitOf(policy)}${soft.includes(axis) ? ', soft' : ''}${varies(axis) ? ofPlan : ''}`,
    Object.entries(scopes)
      .filter(([kind, own]) => kind !== '' && own.includes(axis))
      .map(([kind]) => kind)
      .join(', '),
    i === 0 ? String(processes.length) : '',
  ]);
}

/** The limit of an axis. A hold has its own time to live, so the lease of a policy says nothing. */
function limitOf(policy: Policy): string {
  if (policy.algorithm !== 'concurrency') return policyOf(policy);
  return `${(policy as Policy & { readonly limit: number }).limit} at once (concurrency)`;
}

/** The meters of a name. Two of them differ in their limits, as during a rollout. */
export const metersNamed = (fleet: Fleet, name: string): KnownLimiter[] =>
  metersOf(fleet).filter(({ definition }) => definition.name === name || isAtOnce(definition, name));

/** Is it the name of an axis that is no limiter? Denials are counted under it. */
const isAtOnce = ({ name: meter, meter: of }: KnownLimiter['definition'], name: string): boolean =>
  Object.entries(of!.axes).some(
    ([axis, { algorithm }]) => algorithm === 'concurrency' && name === axisName(meter, axis),
  );

/** The amounts of `--cost`: `usd=30000,output=500`, or a number for each axis that is spent. @throws CliError */
export function amountsOf(text: string, policies: Readonly<Record<string, Policy>>): Record<string, number> {
  const axes = Object.keys(policies);
  const pairs = text.includes('=')
    ? text.split(',').map((pair): [string, string] => {
        const [axis = '', amount = ''] = pair.split('=');
        return [axis.trim(), amount];
      })
    : axes
        .filter((axis) => policies[axis]!.algorithm !== 'concurrency')
        .map((axis): [string, string] => [axis, text]);
  return Object.fromEntries(
    pairs.map(([axis, amount]) => {
      if (!axes.includes(axis))
        throw new CliError(`The meter has no axis '${axis}'.`, `Its axes are: ${axes.join(', ')}.`);
      if (!/^\d{1,15}$/.test(amount))
        throw new CliError(
          `'${amount}' is no amount of axis '${axis}'.`,
          `Write a whole number: --cost ${axis}=500.`,
        );
      return [axis, Number(amount)];
    }),
  );
}

/** The scopes that a key may mean; a text if they cannot be read. */
async function lookAtMeter(
  { store, ask }: Context,
  known: KnownLimiter,
  key: string,
  options: InspectMeterOptions = {},
): Promise<readonly InspectedScope[] | string> {
  const other = known.processes.find(({ layout }) => layout !== LAYOUT);
  if (other !== undefined)
    return `its keys are in the layout ${other.layout}, and this version reads ${LAYOUT}`;
  try {
    return await ask(inspectMeter(store, known.definition, key, options));
  } catch (error) {
    return problemOf(error, known);
  }
}

/** Shows the rest of each axis, of each scope that a key may mean, and which axis stops a call. */
export async function explainMeter(
  context: Context,
  meters: readonly KnownLimiter[],
  key: string,
  { cost, plan }: { readonly cost?: string | undefined; readonly plan?: string | undefined },
): Promise<ExitCode> {
  const { output } = context;
  let passes = true;
  for (const known of meters) {
    const { name, meter } = known.definition;
    checkPlan(name, Object.keys(meter!.plans ?? {}), plan);
    const amounts = cost === undefined ? undefined : amountsOf(cost, meter!.axes);
    const scopes = await lookAtMeter(context, known, key, { amounts, plan });
    const of = listText(known.processes.map(processText), 2);
    if (typeof scopes === 'string') throw new CliError(`Meter '${name}' of ${of} cannot be read: ${scopes}.`);
    if (meters.length > 1) output.say(output.style('dim', `With the limits of ${of}:`));
    for (const scope of scopes) {
      const stops = stopsOf(scope);
      passes &&= stops === undefined;
      output.json({ meter: name, plan: plan ?? Object.keys(meter!.plans ?? {})[0], ...scope });
      output.say(output.style(stops === undefined ? 'green' : 'red', answerOf(name, scope, stops)));
    }
    output.table(AXIS_HEADS, scopes.flatMap(axisRows));
    for (const scope of scopes) for (const note of notesOf(scope)) output.say(note);
    const [first, ...others] = Object.keys(meter!.plans ?? {});
    if (plan === undefined && others.length > 0)
      output.say(
        `These are the limits of the plan '${first}'. For another one: --plan ${others.join(' | ')}.`,
      );
  }
  return passes ? 0 : 1;
}

function checkPlan(name: string, plans: readonly string[], plan: string | undefined): void {
  if (plan === undefined || plans.includes(plan)) return;
  if (plans.length === 0)
    throw new CliError(`The limits of meter '${name}' do not depend on a plan.`, 'Leave out --plan.');
  throw new CliError(`Meter '${name}' has no plan '${plan}'.`, `Known are: ${plans.join(', ')}.`);
}

/** The axis that stops a call: of several the one that frees last. */
export function stopsOf({ axes }: InspectedScope): InspectedAxis | undefined {
  const stopping = axes.filter(({ wait }) => wait !== 0);
  const length = ({ wait }: InspectedAxis) => wait ?? Number.POSITIVE_INFINITY;
  return stopping.sort((one, other) => length(other) - length(one))[0];
}

function answerOf(name: string, { scope, now }: InspectedScope, stops: InspectedAxis | undefined): string {
  const who = `'${shownKey(scope)}'`;
  if (stops === undefined) return `Yes: meter '${name}' would let a call of ${who} pass now.`;
  const { axis, wait, limit } = stops;
  if (wait === undefined)
    return `No: axis ${axis} of meter '${name}' stops ${who}: more than its ${limit} never fit.`;
  return `No: axis ${axis} of meter '${name}' stops ${who} until ${timeOf(now + wait, now)}, in ${lengthOfMicros(wait)}.`;
}

export const AXIS_HEADS = ['AXIS', 'SCOPE', 'LIMIT', 'SPENT', 'HELD', 'LEFT', 'FREES'] as const;

/** A line for each axis of a scope. */
export const axisRows = ({ axes, scope, now }: InspectedScope): string[][] =>
  axes.map(({ axis, limit, used, held, left, wait, isSoft }) => [
    isSoft ? `${axis} (soft)` : axis,
    shownKey(scope),
    String(limit),
    String(used),
    String(held),
    String(left),
    wait === 0 ? '' : wait === undefined ? 'never' : momentOf(now + wait, now),
  ]);

/** Blocks and overrides, which come from operators. */
export const notesOf = ({ axes, scope, now }: InspectedScope): string[] =>
  axes.flatMap(({ axis, blockedUntil, overrideUntil }) => [
    ...(blockedUntil > now
      ? [`${axis} of '${shownKey(scope)}' is blocked; the block ends ${momentOf(blockedUntil, now)}.`]
      : []),
    ...(overrideUntil === undefined
      ? []
      : [`${axis} of '${shownKey(scope)}' is overridden until that ends ${momentOf(overrideUntil, now)}.`]),
  ]);

/** Shows the scopes that a key may mean, and what each axis has of them. @returns how many meters know the key */
export async function inspectedMeters(
  context: Context,
  meters: readonly KnownLimiter[],
  key: string,
  all: boolean,
): Promise<number> {
  const { output } = context;
  let count = 0;
  for (const known of meters) {
    const { name } = known.definition;
    const scopes = await lookAtMeter(context, known, key);
    const isKnown = typeof scopes === 'string' || scopes.some((scope) => scope.known);
    if (isKnown) count += 1;
    else if (!all) continue;
    output.line(output.style('bold', `${name} (meter)`));
    if (typeof scopes === 'string') {
      output.json({ meter: name, key, problem: scopes });
      output.say(output.style('red', `It cannot be read: ${scopes}.`), '  ');
      continue;
    }
    for (const scope of scopes) output.json({ meter: name, ...scope });
    output.table(AXIS_HEADS, scopes.flatMap(axisRows));
    for (const scope of scopes) for (const note of notesOf(scope)) output.say(note, '  ');
  }
  return count;
}
