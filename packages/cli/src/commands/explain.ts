import type { FleetProcess, InspectedKey, InspectedPolicy } from '@sluice/fleet';
import { permitsOf } from '../arguments.js';
import { CliError, type ExitCode } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { type Fleet, fleetOf, type KnownLimiter, named, ofPlan, plansOf } from '../fleet.js';
import { lookAt, stepOf } from '../key-report.js';
import { explainMeter, metersNamed } from '../meters.js';
import { processText, shownKey } from '../text.js';
import { concerning, pauseJson, pauseSentences, upstreamsOf } from '../upstreams.js';
import { count, lengthOfMicros, listText, momentOf, policyOf, stateOf, timeOf } from '../words.js';

export const explain: CommandDefinition = {
  name: 'explain',
  arguments: [
    ['<limiter>', 'the name of a limiter, as `sluice ls` lists it, of a meter, or of an upstream'],
    [
      '[key]',
      'the key as the limiter gets it; of a meter a key of a scope, or what follows its colon; of an upstream the paused scope, default all',
    ],
  ],
  options: [
    {
      flags: '--cost <permits>',
      description:
        'permits of the call; default: the cost of its rule, otherwise 1. Of a meter also by axis: usd=30000,output=500',
    },
    {
      flags: '--plan <name>',
      description: "of a rule with plans: the caller's plan. Default: the defaultPlan of the rules",
    },
  ],
  summary: 'would a call pass now, and why not',
  description:
    'Says whether a call would pass now, which policy denies it, why, and when it would pass. Takes no permits. Exits with 1 if the ' +
    'call would be denied. Of a meter it says for each axis and scope what is spent, held and left, and which axis stops the key. Of an upstream of ' +
    '@sluice/outgoing it says what is paused, why, by which response, and until when.',
  example: [
    'explain login ann@example.com',
    "No: limiter 'login' denies 'ann@example.com' until 14:03:05, in 12 s.\n  perMinute denies it: 5 of 5 used in the window that ends at 14:03:05, in 12 s.",
  ],
  writes: false,
  async run(context, [name = '', givenKey], options) {
    const { output, notes } = context;
    const fleet = await fleetOf(context);
    const upstream = await explainUpstream(context, fleet, name, givenKey);
    if (upstream !== undefined) return upstream;
    if (givenKey === undefined)
      throw new CliError('Which key?', `Give it after the limiter: sluice explain ${name} KEY`);
    const key = givenKey;
    const plan = typeof options.plan === 'string' ? options.plan : undefined;
    const meters = metersNamed(fleet, name);
    if (meters.length > 0) {
      const amounts = typeof options.cost === 'string' ? options.cost : undefined;
      return explainMeter(context, meters, key, { cost: amounts, plan });
    }
    const cost = options.cost === undefined ? undefined : permitsOf('--cost', options.cost, 0);
    const limiters = named(fleet, name).map((one) => (plan === undefined ? one : ofPlan(one, plan)));
    const reports = await Promise.all(limiters.map((limiter) => lookAt(context, limiter, key, cost)));
    if (reports.every(({ seen }) => seen === undefined))
      throw new CliError(`Limiter '${name}' cannot be read: ${reports[0]!.problem}.`);
    let passes = true;
    for (const { limiter, seen, problem } of reports) {
      if (seen === undefined) {
        const of = processNames(limiter.processes);
        notes.say(`The numbers of ${of} for limiter '${name}' cannot be read: ${problem}.`);
        continue;
      }
      passes &&= seen.allowed;
      const usedPlan = plan ?? plansOf(limiter)[0];
      output.json({ limiter: name, key, plan: usedPlan, ...seen });
      if (limiters.length > 1)
        output.say(output.style('dim', `With the numbers of ${processNames(limiter.processes)}:`));
      const [answer, ...reasons] = sentences(name, key, usedPlan, limiter, seen);
      if (cost === undefined && limiter.definition.cost === 'varies')
        reasons.push('The cost of a call depends on the request: --cost PERMITS asks for another one.');
      output.say(output.style(seen.allowed ? 'green' : 'red', answer!));
      for (const reason of reasons) output.say(reason, '  ');
    }
    return passes ? 0 : 1;
  },
};

/** Undefined: it is the name of a limiter, or of nothing. */
async function explainUpstream(
  context: Context,
  fleet: Fleet,
  name: string,
  scope: string | undefined,
): Promise<ExitCode | undefined> {
  if (fleet.limiters.some(({ definition }) => definition.name === name)) return undefined;
  const found = (await upstreamsOf(context, fleet)).filter((one) => one.name === name);
  if (found.length === 0) return undefined;
  const { output } = context;
  const pauses = concerning(
    found.flatMap((one) => one.pauses),
    scope,
  );
  for (const pause of pauses) {
    output.json(pauseJson(pause));
    const [answer, ...reasons] = pauseSentences(pause);
    output.say(output.style('red', answer));
    for (const reason of reasons) output.say(reason, '  ');
  }
  if (pauses.length > 0) return 1;
  const of = scope === undefined ? '' : ` for '${shownKey(scope)}'`;
  output.say(output.style('green', `Not paused: no pause of upstream '${name}' is in force${of}.`));
  return 0;
}

function sentences(
  name: string,
  key: string,
  plan: string | undefined,
  known: KnownLimiter,
  seen: InspectedKey,
): string[] {
  const { definition, like } = known;
  const { allowed, wait, cost, now, policies } = seen;
  const { kind, policies: own, prefetch } = definition;
  const call = `a call for ${count(cost, 'permit')}`;
  const who = `'${shownKey(key)}'`;
  const limiter = `limiter '${name}'`;
  const answer = allowed
    ? `Yes: ${limiter} would let ${call} of ${who} pass now.`
    : wait === undefined
      ? `No: ${limiter} would never let ${call} of ${who} pass.`
      : `No: ${limiter} denies ${call} of ${who} until ${timeOf(now + wait, now)}, in ${lengthOfMicros(wait)}.`;
  const denying = policies.filter((policy) => !policy.allowed);
  const reasons = allowed
    ? policies.map(
        (policy) => `${policy.name}: ${policy.remaining} of ${count(policy.limit, 'permit')} left.`,
      )
    : denying.map(
        (policy) =>
          `${policy.name}, ${policyOf(own[policy.name]!)}, denies it: ${reasonOf(policy, cost, now)}`,
      );
  if (like !== undefined) reasons.push(`Its numbers are those of '${like}', which the factory made last.`);
  if (plan !== undefined) reasons.push(planNote(plan, plansOf(known)));
  else if (kind === 'per-request')
    reasons.push('Its numbers depend on the request: these are the ones that a process used last.');
  if (prefetch) reasons.push('Processes prefetch permits of it, so a process may still have some, or none.');
  return [answer, ...reasons];
}

/** Redis has the key's count, and not the plan of the call that was counted. */
function planNote(plan: string, plans: readonly string[]): string {
  const others = plans.filter((other) => other !== plan);
  const more =
    others.length === 0
      ? ''
      : ` The plan is not stored with a key. For another one: --plan ${others.join(' | ')}.`;
  return `These are the numbers of the plan '${plan}'.${more}`;
}

function reasonOf(policy: InspectedPolicy, cost: number, now: number): string {
  const { blockedUntil, limit, state, wait, booked, escalation } = policy;
  if (blockedUntil > now) {
    const forgivenAt = escalation?.forgivenAt;
    const forgiven = forgivenAt === undefined ? '' : ` Forgiven ${momentOf(forgivenAt, now)}.`;
    return `the key is blocked${stepOf(policy)}; the block ends ${momentOf(blockedUntil, now)}.${forgiven}`;
  }
  if (wait === undefined && cost > limit)
    return `${count(cost, 'permit')} are more than the ${limit} it ever has at once.`;
  const ahead = booked.length > 0 ? `; ${count(booked.length, 'booked call')} goes first` : '';
  return `${stateOf(state.view, now)}${ahead}.`;
}

/** The first two, and how many more: `shop-1:4711, shop-2:94 and 3 more`. */
const processNames = (processes: readonly FleetProcess[]): string => listText(processes.map(processText), 2);
