import { z } from 'zod';
import { strict, text } from './schema-parts.js';

const oneOrMore = <T extends z.ZodType>(item: T, error: string, most = 100) =>
  z.union([item, z.array(item, { error }).min(1, { error }).max(most, { error })], { error });

const VALUE = "must be a text such as 'true', a text with *, '*' for any value, or a list of them";
const value = z.union([z.string().max(1000), z.number(), z.boolean()], { error: VALUE });
const values = (error: string) => z.record(text(100), oneOrMore(value, VALUE), { error });
/** Users and networks in one list. */
const MOST_NAMED = 1000;
const USER =
  "must be an id, a list of ids, '*' for all who are signed in, or an object of fields such as { role: admin }";

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
  header: values("must be an object of header values, such as { x-beta: 'true' }")
    .optional()
    .describe("Values of headers; `*` stands for any text, so '*' alone means: the header is present."),
  ip: oneOrMore(text(100), 'must be an address or a range such as 10.0.0.0/8, or a list of them', MOST_NAMED)
    .optional()
    .describe('Addresses and ranges of the client: 192.0.2.7, 10.0.0.0/8, 2001:db8::/32.'),
  query: values('must be an object of query values, such as { format: csv }')
    .optional()
    .describe('Values of the query, by name; as for headers.'),
  user: z
    .union([oneOrMore(z.union([text(1000), z.number()], { error: USER }), USER, MOST_NAMED), values(USER)], {
      error: USER,
    })
    .optional()
    .describe(
      "Ids of signed-in users, '*' for all of them; or values of the user's fields: { role: admin }.",
    ),
  plan: oneOrMore(text(100), 'must be the name of a plan, or a list of names')
    .optional()
    .describe('One or several plans. The field plan of the rule says whose plan a request has.'),
};
const condition = strict('a match', conditions);
/** Which requests a rule applies to. */
export const matchSchema = strict(
  'a match',
  {
    ...conditions,
    not: oneOrMore(condition, 'must be a match, or a list of matches')
      .optional()
      .describe('Requests that match this, or one of several, are left out.'),
  },
  '{ path: /v1/* }',
);

export type MatchInput = z.input<typeof matchSchema>;
export type ConditionInput = z.input<typeof condition>;
