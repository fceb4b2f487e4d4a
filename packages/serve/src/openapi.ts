import { VERSION } from '@sluice/core/internal';
import { z } from 'zod';
import { NAMED, REQUEST } from './json-calls.js';

const COUNT = { type: 'integer', minimum: 0 };
const TEXT = { type: 'string' };
const refused = (status: number, description: string) => ({
  [status]: { description, content: { 'application/problem+json': { schema: { type: 'object' } } } },
});
const REFUSED = {
  ...refused(400, '`detail` says why'),
  ...refused(413, 'Over 64 KiB'),
  ...refused(415, 'No JSON'),
};

const DECISION = {
  ...{ type: 'object', required: ['allowed', 'headers'] },
  properties: {
    allowed: { type: 'boolean' },
    policy: { ...TEXT, description: 'The limit with the longest wait, or with the fewest permits left' },
    ...{ limit: COUNT, remaining: COUNT, resetAfterMs: COUNT },
    retryAfterMs: { type: ['integer', 'null'], description: 'null: the call can never pass' },
    source: { ...TEXT, description: 'The store, a cache, or the failure policy' },
    degraded: { type: 'boolean', description: 'The store is out, and the failure policy decided' },
    headers: { type: 'object', description: 'For the response to your client' },
    response: { type: 'object', properties: { status: COUNT, type: TEXT, body: TEXT } },
  },
};

const json = (schema: object) => ({ 'application/json': { schema } });
const decided = (summary: string, body: z.ZodType, more = {}) => ({
  summary,
  requestBody: { required: true, content: json(z.toJSONSchema(body, { io: 'input' })) },
  responses: {
    200: { description: 'The decision, also a denial', content: json(DECISION) },
    ...REFUSED,
    ...more,
  },
});
const header = (name: string) => ({
  name: `X-Forwarded-${name}`,
  in: 'header',
  required: true,
  schema: TEXT,
});
const denied = { name: 'denied', in: 'query', schema: { enum: [401, 403, 429] } };
const plain = (summary: string, ...statuses: number[]) => {
  const responses = Object.fromEntries(statuses.map((status) => [status, { description: summary }]));
  return { get: { summary, responses } };
};

/** The JSON API, for people and for generators of clients. */
export const OPENAPI = {
  openapi: '3.1.0',
  info: { title: 'Sluice', version: VERSION },
  paths: {
    '/v1/consume': {
      post: decided('Takes permits of a rule by its name', NAMED, refused(404, 'No such rule')),
    },
    '/v1/request': { post: decided('Decides a request by all rules that match it', REQUEST) },
    '/v1/auth': {
      parameters: [...['Uri', 'Method', 'Host', 'For'].map(header), denied],
      ...plain('Answers a proxy by its status', 200, 400, 401, 403, 429, 503),
    },
    '/health/live': plain('Does the process run?', 200),
    '/health/ready': plain('Does it take calls?', 200, 503),
    '/openapi.json': plain('This document', 200),
  },
};
