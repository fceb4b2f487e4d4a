import { kindsWithWindows } from '@sluice/core/internal';
import { z } from 'zod';
import { matchSchema } from './schema-match.js';
import { meterSchema } from './schema-meter.js';
import { ALGORITHM_SCHEMAS, escalateSchema, NAME, strict, text } from './schema-parts.js';
import { requestFields } from './schema-requests.js';
import { testSchema } from './schema-tests.js';

const name = z
  .string({ error: NAME.error })
  .regex(NAME.pattern, { error: NAME.error })
  .describe('A letter, then letters, digits, _ and -: at most 50.');
const NOTIFY = { error: "must be a list of parts of the limit, such as ['80%', '100%']" };
const limit = strict(
  'a limit',
  {
    ...ALGORITHM_SCHEMAS,
    notify: z
      .array(z.string(NOTIFY), NOTIFY)
      .optional()
      .describe(
        `Publishes on sluice:threshold when a key has used so much of a ${kindsWithWindows.join(', ')}.`,
      ),
  },
  '{ fixedWindow: { limit: 100, window: 1m } }',
)
  .describe('One algorithm with its options.')
  .meta({ oneOf: Object.keys(ALGORITHM_SCHEMAS).map((name) => ({ required: [name] })) });

const plan = z
  .record(name, z.union([z.number(), z.string()], { error: 'must be a number or a duration such as 1m' }), {
    error: 'must be an object of numbers by name, such as { perMinute: 60 }',
  })
  .describe('Numbers and durations by name, for `$plan.name`.');

const SHARE = { error: 'must be a share from 0 to 1, such as 0.2' };
const reply = strict('a reply', {
  status: z
    .int({ error: 'must be a status from 400 to 599' })
    .min(400, { error: 'must be a status from 400 to 599' })
    .max(599, { error: 'must be a status from 400 to 599' })
    .optional()
    .describe('Default 429.'),
  body: z
    .union([z.string(), z.record(z.string(), z.json()), z.array(z.json())], {
      error: 'must be a text, an object or a list',
    })
    .optional()
    .describe('A text, or data that is sent as JSON. Default: a problem document (RFC 9457).'),
  headers: z
    .record(text(100), z.union([z.string(), z.number()], { error: 'must be a text' }), {
      error: 'must be an object of header values',
    })
    .optional(),
  retryAfterJitter: z
    .number(SHARE)
    .min(0, SHARE)
    .max(1, SHARE)
    .optional()
    .describe('Adds to Retry-After a random part of the wait, up to this share of it; default 0.'),
});

const KEYS = { error: "must be a key such as '#{user.id}', or a list of keys such as [USER, IP]" };
/** Core checks how many keys a list has, and their order. */
const key = z.union([text(1000), z.array(z.string(KEYS), KEYS)], KEYS);

const rule = strict('a rule', {
  name,
  match: matchSchema
    .optional()
    .describe('Which requests the rule applies to. Without it, code uses the rule by its name.'),
  key: key
    .optional()
    .describe(
      `IP (default), USER, METHOD, a template such as #{user.id} or #{cookies.session}, or a list such as [USER, IP]: the first that is present.`,
    ),
  ipv6Subnet: z
    .int({ error: 'must be a whole number from 32 to 128' })
    .optional()
    .describe('IPv6 prefix length that counts as one client, from 32 to 128; default 64.'),
  plan: text(1000).optional().describe('The name of a plan, or a template that finds it: #{user.plan}.'),
  limit: limit.optional(),
  limits: z
    .record(name, limit, { error: 'must be an object of limits by name, such as { perMinute: { … } }' })
    .optional()
    .describe('Several limits by name: a request takes from all of them or from none.'),
  cost: z
    .union([z.number(), text(1000)], {
      error: 'must be a whole number ≥ 0, $plan.name, or a template such as #{headers.x-cost}',
    })
    .optional()
    .describe(
      'Permits that a request takes: a whole number, $plan.name, or a template that finds one. Default 1.',
    ),
  escalate: escalateSchema
    .optional()
    .describe('Blocks a key that is denied again and again, longer each time.'),
  unlimited: z
    .literal(true, { error: 'must be true, or left out' })
    .optional()
    .describe('Requests that match pass uncounted: by all rules, or by those in `replaces`.'),
  replaces: z
    .array(z.string({ error: 'must be the name of a rule' }), { error: 'must be a list of rule names' })
    .max(1000)
    .optional()
    .describe('Rules that do not apply where this one does.'),
  mode: z
    .enum(['enforce', 'shadow'], { error: "must be 'enforce' or 'shadow'" })
    .optional()
    .describe('`shadow`: decided and counted, never enforced. Default `enforce`.'),
  compare: z
    .string({ error: 'must be the name of a rule' })
    .optional()
    .describe(
      'Of a shadow rule: the enforced rule whose match, key, plan and cost it has unless it says otherwise.',
    ),
  ...requestFields,
  reply: reply.optional().describe('The response to a request that this rule denies.'),
});

const PERCENT = { error: 'must be a number from 0 to 100' };
const rollout = strict('a rollout', {
  percent: z.number(PERCENT).min(0, PERCENT).max(100, PERCENT),
  by: key
    .optional()
    .describe(
      'What keeps its version: key (default), the key of the rule; or IP, USER, a template, or a list.',
    ),
});

/** The source of the types, of the checks, and of schema.json. */
export const documentSchema = strict('the document', {
  version: z
    .union([text(100), z.number()], { error: 'must be a text or a number' })
    .optional()
    .describe('For people: shown with decisions and events.'),
  name: name.optional().describe('The start of the names of all limiters; default `rules`.'),
  hashTag: text(100)
    .optional()
    .describe(
      'Keeps all keys in one slot of a Redis Cluster: needed there if several rules can match one request.',
    ),
  plans: z
    .record(name, plan, { error: 'must be an object of plans by name' })
    .optional()
    .describe('Plans by name, each with the same numbers.'),
  defaultPlan: z
    .string({ error: 'must be the name of a plan' })
    .optional()
    .describe('The plan of requests whose plan is missing or unknown.'),
  rules: z
    .array(rule, { error: 'must be a list of rules' })
    .min(1, { error: 'must have at least one rule' })
    .max(1000, { error: 'must have at most 1000 rules' })
    .optional(),
  meter: meterSchema,
  tests: z
    .array(testSchema, { error: 'must be a list of tests' })
    .max(10_000, { error: 'must have at most 10000 tests' })
    .optional()
    .describe('Requests and what is expected of them; run by `sluice check` and by testRules.'),
  rollout: rollout.optional().describe('Who gets this version; the others keep the version before.'),
})
  .describe('Rate limits as data, for @sluice/rules.')
  .meta({ anyOf: [{ required: ['rules'] }, { required: ['meter'] }] });

/** A document of rules, before it is checked. */
export type RulesDocument = z.input<typeof documentSchema>;
export type RuleInput = z.input<typeof rule>;
export type LimitInput = z.input<typeof limit>;
export type ReplyInput = z.input<typeof reply>;
