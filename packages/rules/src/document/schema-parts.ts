import { toMicros } from '@sluice/core/internal';
import { z } from 'zod';

/** The fields of each kind of object, by the name that errors use for it. */
const fields = new Map<string, readonly string[]>();

export const fieldsOf = (kind: string): readonly string[] => fields.get(kind) ?? [];

/**
 * An object without other fields. The message of an unknown field is `kind` alone: `problemsOfIssues` writes one for each field.
 * @param kind the name in errors: `a rule`
 * @param example shown in the error for a value that is not an object
 */
export function strict<S extends z.core.$ZodShape>(kind: string, shape: S, example?: string) {
  fields.set(kind, Object.keys(shape));
  const wrong = `must be an object${example === undefined ? '' : ` such as ${example}`}`;
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? kind : wrong),
  });
}

/** A text of 1 to `most` characters. */
export const text = (most: number) =>
  z
    .string({ error: 'must be a text' })
    .min(1, { error: 'must not be empty' })
    .max(most, { error: `must have at most ${most} characters` });

/** A name is part of storage keys and headers. It has no dot, so that `rule.limit` is unambiguous. */
export const NAME = {
  pattern: /^[A-Za-z][\w-]{0,49}$/,
  error: 'must be a name: a letter, then letters, digits, _ or -, at most 50',
};

/** `$plan.name` in place of a number or a duration. */
export const PLAN_NUMBER = /^\$plan\.([A-Za-z][\w-]{0,49})$/;

function isDuration(value: string | number): boolean {
  try {
    return toMicros('', value, 0) >= 0;
  } catch {
    return false; // the schema has its own message
  }
}

const COUNT = { error: 'must be a number or $plan.name' };
const count = z.union([z.number(), z.string().regex(PLAN_NUMBER, COUNT)], COUNT);
const DURATION = {
  error: 'must be a duration such as 500ms, 1m, 1h, 1d, a number of milliseconds, or $plan.name',
};
const duration = z.union(
  [z.number(), z.string().refine((text) => PLAN_NUMBER.test(text) || isDuration(text), DURATION)],
  DURATION,
);
const CALENDAR = { error: 'must be a duration such as 1m or 1d, 1 week, 1 month, 1 year, or $plan.name' };
/** Core checks the windows of the calendar. */
const calendarDuration = z.union([z.number(), z.string().min(1, CALENDAR).max(100, CALENDAR)], CALENDAR);

const TIME = { error: 'must be a duration such as 500ms, 1m, 1h or 1d' };
export const DURATION_SCHEMA = z.union(
  [z.number().refine(isDuration, TIME), z.string().refine(isDuration, TIME)],
  TIME,
);

const flag = z.boolean({ error: 'must be true or false' });
const word = <const W extends readonly [string, ...string[]]>(...words: W) =>
  z.enum(words, { error: `must be ${words.map((one) => `'${one}'`).join(' or ')}` });

/** Each algorithm with the options of its factory in @sluice/core, which checks the values. */
export const ALGORITHM_SCHEMAS = {
  fixedWindow: strict('fixedWindow', {
    limit: count,
    window: calendarDuration,
    align: word('first-hit', 'clock').optional(),
    timeZone: z.string({ error: 'must be a time zone such as Europe/Berlin' }).optional(),
    anchor: z
      .union([z.number(), z.string()], { error: 'must be a day such as monday, 15 or 04-01' })
      .optional()
      .describe('The day on which a week, a month or several months begin: monday, 1 to 31, or 04-01.'),
  }).optional(),
  slidingWindow: strict('slidingWindow', {
    limit: count,
    window: duration,
    slots: count.optional(),
  }).optional(),
  slidingLog: strict('slidingLog', { limit: count, window: duration }).optional(),
  tokenBucket: strict('tokenBucket', {
    capacity: count,
    refill: count,
    every: duration,
    mode: word('continuous', 'interval').optional(),
    initial: count.optional(),
    borrow: count.optional(),
    waitBeyondCapacity: flag.optional(),
  }).optional(),
  gcra: strict('gcra', { limit: count, period: duration, burst: count.optional() }).optional(),
  leakyBucket: strict('leakyBucket', { capacity: count, leak: count, every: duration }).optional(),
  concurrency: strict('concurrency', {
    limit: count,
    lease: duration.optional(),
    queue: count.optional(),
  }).optional(),
};

const DENIALS = { error: 'must be a number of denials, 1 to 100, or $plan.name' };

/** The option `escalate` of core's limiters, which checks the values. */
export const escalateSchema = strict('escalate', {
  after: z
    .union([z.number(), z.string().regex(PLAN_NUMBER, DENIALS)], DENIALS)
    .describe('The denial that blocks: 3 for the third.'),
  within: duration.describe('The time in which these denials must come.'),
  block: z
    .union([duration, z.array(duration)], {
      error: 'must be a duration, or a list of them such as [1m, 10m, 1d]; each may be $plan.name',
    })
    .describe('How long the first block lasts, the second, and so on; the last is used from then on.'),
  forgive: duration.optional().describe('Time without a denial after which blocks begin again; default 1d.'),
});
