import { z } from 'zod';
import { DURATION_SCHEMA, strict } from './schema-parts.js';

const WHOLE = { error: 'must be a whole number' };
const whole = (most: number) =>
  z
    .int(WHOLE)
    .min(0, WHOLE)
    .max(most, { error: `must be at most ${most}` });
const OBJECT = { error: 'must be an object' };
const record = z.record(z.string(), z.json(), OBJECT);
const text = z
  .string({ error: 'must be a text' })
  .max(10_000, { error: 'must have at most 10000 characters' });

/** Requests, or calls of a rule that only code uses. */
const given = strict('given', {
  method: text.optional().describe('Default GET.'),
  path: text.optional().describe('Also with a query: /v1/a?x=1.'),
  host: text.optional(),
  ip: text.optional().describe('Default 203.0.113.1.'),
  user: z
    .union([z.string(), z.number(), record], { error: 'must be an id or an object' })
    .optional()
    .describe('As the authentication puts it on a request: { id: ann, plan: free }.'),
  headers: record.optional(),
  params: record.optional(),
  query: record.optional(),
  cookies: record.optional().describe('By name, as they are after decoding.'),
  body: z.json().optional(),
  rule: text.optional().describe('Instead of a request: a call of this rule, as code makes it.'),
  key: z
    .union([text, z.number()], { error: 'must be a text or a number' })
    .optional()
    .describe('Of such a call.'),
  plan: text.optional().describe('Of such a call.'),
  times: whole(100_000).min(1, WHOLE).optional().describe('How many of them; default 1.'),
  every: DURATION_SCHEMA.optional().describe('The time between two of them; default none.'),
  after: DURATION_SCHEMA.optional().describe('The time before the first.'),
  at: text
    .optional()
    .describe('The moment of the first: 2026-01-31T23:59:00Z. The default is the start of 2025.'),
});

const expected = strict('expect', {
  allowed: whole(100_000).optional(),
  denied: whole(100_000).optional(),
  by: text.optional().describe('The limit of all denials: `rule.limit`, or `rule`.'),
  shadow: z
    .record(z.string(), whole(100_000), {
      error: 'must be an object of numbers by rule, such as { api-next: 5 }',
    })
    .optional()
    .describe('How many requests each of these shadow rules would deny: { api-next: 5 }.'),
});

const GIVEN = { error: 'must be a request, or a list of requests' };

/** One entry of `tests:`. */
export const testSchema = strict('a test', {
  name: text.optional(),
  given: z.union([given, z.array(given, GIVEN).min(1, GIVEN).max(1000, GIVEN)], GIVEN),
  expect: expected.describe('Of all requests of the test.'),
});

export type TestInput = z.input<typeof testSchema>;
export type GivenInput = z.input<typeof given>;
export type ExpectInput = z.input<typeof expected>;
