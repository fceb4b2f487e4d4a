import { z } from 'zod';
import { ALGORITHM_SCHEMAS, escalateSchema, NAME, strict } from './schema-parts.js';
import { testSchema } from './schema-tests.js';

const text = (most: number) =>
  z
    .string({ error: 'must be a text' })
    .min(1, { error: 'must not be empty' })
    .max(most, { error: `must have at most ${most} characters` });
const name = z
  .string({ error: NAME.error })
  .regex(NAME.pattern, { error: NAME.error })
  .describe('A letter, then letters, digits, _ and -: at most 50.');
const oneOrMore = <T extends z.ZodType>(item: T, error: string) =>
  z.union([item, z.array(item, { error }).min(1, { error }).max(100, { error })], { error });

const headerValue = z.union([z.string().max(1000), z.number(), z.boolean()], {
  error: "must be a text such as 'true', a text with *, or '*' for any value",
});

const conditions = {
  method: oneOrMore(text(20), 'must be a method such as GET, or a list of methods')
    .optional()
    .describe('One or several HTTP methods. GET includes HEAD.'),
  path: oneOrMore(text(1000), 'must be a path pattern such as /v1/*, or a list of them')
    .optional()
    .describe('`:name` is one segment, `*` any text within a segment, `/*` at the end the rest of the path.'),
  host: oneOrMore(text(255), 'must be a host such as api.example.com, or a list of hosts')
    .optional()
    .describe('One or several hosts, without a port; `*.example.com` for all subdomains.'),
  header: z
    .record(text(100), headerValue, {
      error: "must be an object of header values, such as { x-beta: 'true' }",
    })
    .optional()
    .describe("Values of headers; `*` stands for any text, so '*' alone means: the header is present."),
};
const condition = strict('a match', conditions);
const match = strict(
  'a match',
  {
    ...conditions,
    not: oneOrMore(condition, 'must be a match, or a list of matches')
      .optional()
      .describe('Requests that match this, or one of several, are left out.'),
  },
  '{ path: /v1/* }',
);

const NOTIFY = { error: "must be a list of parts of the limit, such as ['80%', '100%']" };
const limit = strict(
  'a limit',
  {
    ...ALGORITHM_SCHEMAS,
    notify: z
      .array(z.string(NOTIFY), NOTIFY)
      .optional()
      .describe('Publishes on sluice:threshold when a key has used so much of a fixedWindow.'),
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
});

const rule = strict('a rule', {
  name,
  match: match
    .optional()
    .describe('Which requests the rule applies to. Without it, code uses the rule by its name.'),
  key: text(1000)
    .optional()
    .describe(`IP (default), USER, METHOD, or a template such as #{user.id} or #{headers['x-api-key']}.`),
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
  reply: reply.optional().describe('The response to a request that this rule denies.'),
});

const PERCENT = { error: 'must be a number from 0 to 100' };
const rollout = strict('a rollout', {
  percent: z.number(PERCENT).min(0, PERCENT).max(100, PERCENT),
  by: text(1000)
    .optional()
    .describe('What keeps its version: key (default), the key of the rule; or IP, USER or a template.'),
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
    .max(1000, { error: 'must have at most 1000 rules' }),
  tests: z
    .array(testSchema, { error: 'must be a list of tests' })
    .max(10_000, { error: 'must have at most 10000 tests' })
    .optional()
    .describe('Requests and what is expected of them; run by `sluice check` and by testRules.'),
  rollout: rollout.optional().describe('Who gets this version; the others keep the version before.'),
}).describe('Rate limits as data, for @sluice/rules.');

/** A document of rules, as it is written. */
export type RulesDocument = z.input<typeof documentSchema>;
export type RuleInput = z.input<typeof rule>;
export type LimitInput = z.input<typeof limit>;
export type MatchInput = z.input<typeof match>;
export type ConditionInput = z.input<typeof condition>;
export type ReplyInput = z.input<typeof reply>;
