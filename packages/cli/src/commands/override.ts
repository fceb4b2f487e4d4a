import type { Policy, RateLimiter } from '@sluice/core';
import { durationOf, permitsOf } from '../arguments.js';
import { ASKS, CHANGE_OPTIONS, change, KEY } from '../change.js';
import { CliError } from '../cli-error.js';
import type { CommandDefinition } from '../command.js';
import { type KnownLimiter, ofPlan, plansOf } from '../fleet.js';
import { count } from '../words.js';

export const override: CommandDefinition = {
  name: 'override',
  arguments: [KEY, ['[numbers...]', 'numbers of the policy to replace: limit=100 capacity=50']],
  options: [
    { flags: '--for <duration>', description: 'how long: 15m, 1h, 7d' },
    { flags: '--policy <name>', description: 'the policy, if the limiter has several' },
    { flags: '--plan <name>', description: "of a rule with plans: the key's plan, whose other numbers stay" },
    { flags: '--remove', description: 'end the override instead' },
    ...CHANGE_OPTIONS,
  ],
  summary: 'give a key other numbers for a time',
  description:
    'Gives one key other numbers of the same policy, in all processes, until the time is over. What is not named stays as it is. The ' +
    `key keeps its count. ${ASKS}`,
  example: ['override ann limit=500 --limiter api --for 1d', 'Asks, and gives ann 500 for a day.'],
  writes: true,
  run(context, [key = '', ...numbers], options) {
    if (options.remove === true)
      return change(context, key, options, {
        verb: 'End the override of',
        done: 'no longer overridden',
        concerns: ({ seen }) =>
          seen?.policies.some(({ overrideUntil }) => overrideUntil !== undefined) === true,
        nothing: 'No known limiter has an override for this key.',
        apply: (limiter) => limiter.removeOverride(key),
      });
    const expiresIn = durationOf('--for', options.for);
    if (numbers.length === 0)
      throw new CliError(
        'Which numbers?',
        'Name those that change, as in: sluice override KEY limit=500 --for 1h',
      );
    return change(context, key, options, {
      verb: 'Override',
      done: 'overridden',
      how: ` with ${numbers.join(' ')} for ${expiresIn}`,
      check: (known) => void replaced(known, numbers, options),
      apply: (limiter, known) => limiter.override(key, replaced(known, numbers, options), { expiresIn }),
    });
  },
};

type Options = Readonly<Record<string, string | boolean | undefined>>;

/** The limiter's policy with the given numbers. @throws CliError if the others depend on the plan of the key, which is not stored */
function replaced(
  known: KnownLimiter,
  numbers: readonly string[],
  { policy, plan }: Options,
): Policy | Record<string, Policy> {
  const plans = typeof plan === 'string' ? [plan] : plansOf(known);
  if (plans.length === 0 && isSample(known)) checkAllNamed(known, numbers, policy);
  const variants = plans.length === 0 ? [known] : plans.map((one) => ofPlan(known, one));
  const [made, ...others] = variants.map((one) => withNumbers(one, numbers, policy));
  if (others.every((one) => JSON.stringify(one) === JSON.stringify(made))) return made!;
  throw new CliError(
    `The numbers of '${known.definition.name}' that you did not name depend on the plan of the key, which is not stored.`,
    `Name them as well, or add --plan with one of: ${plans.join(', ')}.`,
  );
}

/** Are its numbers those of the latest request, or of another limiter of its factory? */
const isSample = ({ definition: { kind }, like }: KnownLimiter): boolean =>
  kind === 'per-request' || like !== undefined;

/** @throws CliError if a number that the key may have otherwise is not named */
function checkAllNamed(known: KnownLimiter, numbers: readonly string[], wanted: Options[string]): void {
  const [, given] = chosen(known, wanted);
  const own = Object.entries(given).filter(([, value]) => typeof value === 'number');
  const pairOf = (option: string) => numbers.find((pair) => pair.startsWith(`${option}=`));
  if (own.every(([option]) => pairOf(option) !== undefined)) return;
  const pairs = own.map(([option, value]) => pairOf(option) ?? `${option}=${value}`);
  throw new CliError(
    `Which numbers of '${known.definition.name}' this key has depends on the program, and is not stored.`,
    `Name all of them, for example: ${pairs.join(' ')}`,
  );
}

/** The name of the policy to change, and the policy. @throws CliError */
function chosen(
  { definition: { name, policies, several } }: KnownLimiter,
  wanted: Options[string],
): readonly [name: string, policy: Policy] {
  const names = Object.keys(policies);
  const policy = typeof wanted === 'string' ? wanted : several && names.length > 1 ? undefined : names[0]!;
  const given = policy === undefined ? undefined : policies[policy];
  if (policy === undefined || given === undefined)
    throw new CliError(`Which policy of '${name}'?`, `Add --policy with one of: ${names.join(', ')}.`);
  return [policy, given];
}

function withNumbers(
  known: KnownLimiter,
  numbers: readonly string[],
  wanted: Options[string],
): Policy | Record<string, Policy> {
  const [policy, given] = chosen(known, wanted);
  const changed: Record<string, unknown> = { ...given };
  for (const pair of numbers) {
    const [, option, value] = /^(\w+)=(.+)$/.exec(pair) ?? [];
    if (option === undefined || option === 'algorithm' || !Object.hasOwn(given, option)) {
      const names = Object.keys(given).filter((one) => one !== 'algorithm');
      throw new CliError(
        `'${pair}' names no number of this policy.`,
        `Its numbers are: ${names.join(', ')}. Write ${names[0]}=100.`,
      );
    }
    changed[option] = /^\d+(?:\.\d+)?$/.test(value!) ? Number(value) : value;
  }
  const made = changed as unknown as Policy;
  return known.definition.several ? { [policy]: made } : made;
}

function permitsCommand(
  name: 'reward' | 'penalty',
  words: Pick<CommandDefinition, 'summary' | 'description' | 'example'> & {
    verb(permits: string): string;
    done: string;
  },
): CommandDefinition {
  const { verb, done, ...described } = words;
  return {
    name,
    arguments: [KEY, ['<permits>', 'how many']],
    options: CHANGE_OPTIONS,
    ...described,
    writes: true,
    run(context, [key = '', permits], options) {
      const many = permitsOf('The number of permits', permits);
      return change(context, key, options, {
        verb: verb(count(many, 'permit')),
        done,
        apply: (limiter: RateLimiter) => limiter[name](key, many),
      });
    },
  };
}

export const reward = permitsCommand('reward', {
  summary: 'give permits back to a key',
  description: `Gives permits back to a key: those taken last first, and never more than it took. ${ASKS}`,
  example: ['reward ann@example.com 10 --limiter api', 'Asks, and gives ten permits back.'],
  verb: (permits) => `Give ${permits} back to`,
  done: 'rewarded',
});

export const penalty = permitsCommand('penalty', {
  summary: 'take permits from a key',
  description: `Takes permits from a key, even if none are left. ${ASKS}`,
  example: ['penalty 203.0.113.7 100 --limiter api', 'Asks, and takes a hundred permits.'],
  verb: (permits) => `Take ${permits} from`,
  done: 'penalized',
});
