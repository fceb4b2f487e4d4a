import { type EachKind, type PolicyOption, policyKinds, toMicros } from '@sluice/core/internal';
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

function schemaOf(option: PolicyOption) {
  switch (option.type) {
    case 'count':
      return count;
    case 'duration':
      return option.calendar ? calendarDuration : duration;
    case 'flag':
      return z.boolean({ error: 'must be true or false' });
    case 'word':
      return z.enum(option.words, { error: `must be ${option.words.map((one) => `'${one}'`).join(' or ')}` });
    case 'text': {
      const error = `must be ${option.what}`;
      return option.numbers ? z.union([z.number(), z.string()], { error }) : z.string({ error });
    }
  }
}

function optionSchema(option: PolicyOption): z.ZodType {
  const schema: z.ZodType = option.optional ? schemaOf(option).optional() : schemaOf(option);
  return option.description === undefined ? schema : schema.describe(option.description);
}

/** A number or a duration of an option may also be `$plan.name`. */
type Written<V> = Extract<V, number> extends never ? V : number | string;
type WrittenOptions<O> = {
  -readonly [K in keyof O]: Written<O[K]> | (O extends Record<K, O[K]> ? never : undefined);
};
type OptionsOf<Name> = WrittenOptions<Parameters<Extract<EachKind, { name: Name }>['create']>[0]>;

/** Each algorithm with the options of its factory in @sluice/core, which checks the values. */
export const ALGORITHM_SCHEMAS = Object.fromEntries(
  policyKinds.map(({ name, options }) => [
    name,
    strict(
      name,
      Object.fromEntries(Object.entries(options).map(([option, type]) => [option, optionSchema(type)])),
    ).optional(),
  ]),
) as unknown as {
  readonly [Name in EachKind['name']]: z.ZodOptional<z.ZodType<OptionsOf<Name>, OptionsOf<Name>>>;
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
