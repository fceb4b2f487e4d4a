import { z } from 'zod';
import { ALGORITHM_SCHEMAS, NAME, strict, text } from './schema-parts.js';

const name = z.string({ error: NAME.error }).regex(NAME.pattern, { error: NAME.error });

/** Every object of JavaScript has some names already. */
const axisName = name.refine((one) => !(one in {}), {
  error: 'every object of JavaScript has this name: choose another',
});

const axis = strict('an axis', ALGORITHM_SCHEMAS, '{ fixedWindow: { limit: 50000000, window: 1 month } }')
  .describe('One algorithm with its options. `concurrency` limits what runs at once.')
  .meta({ oneOf: Object.keys(ALGORITHM_SCHEMAS).map((algorithm) => ({ required: [algorithm] })) });

const AXES = { error: 'must be an object of limits by name, such as { usd: { … } }' };
const SOFT = { error: 'must be a list of axes, such as [usd]' };
const OVERRIDES = { error: 'must be an object of axes by key, such as { acme: { usd: { limit: 100 } } }' };
const OWN = { error: 'must be an object of numbers by axis, such as { usd: { limit: 100 } }' };
const NUMBERS = { error: 'must be an object of numbers, such as { limit: 100 }' };
const NUMBER = { error: 'must be a number, a text, true or false' };

const meter = strict(
  'a meter',
  {
    axes: z.record(axisName, axis, AXES).describe('The limits by name: 1 to 20.'),
    soft: z.array(z.string(SOFT), SOFT).optional().describe('Axes that report and never deny.'),
    overrides: z
      .record(
        text(1000),
        z.record(
          name,
          z.record(text(50), z.union([z.number(), z.string(), z.boolean()], NUMBER), NUMBERS),
          OWN,
        ),
        OVERRIDES,
      )
      .optional()
      .describe('Numbers that a key of a scope has in place of the numbers of an axis.'),
  },
  '{ axes: { usd: { … } } }',
);

/** The meters of a document, by name. */
export const meterSchema = z
  .record(name, meter, { error: 'must be an object of meters by name, such as { ai: { axes: { … } } }' })
  .optional()
  .describe('Budgets by name, for `meter({ name, rules })` of @sluice/meter.');

export type MeterInput = z.input<typeof meter>;
