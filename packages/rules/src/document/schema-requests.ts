import { z } from 'zod';
import { DURATION_SCHEMA, strict } from './schema-parts.js';

const FLAG = { error: 'must be true or false' };
const FAILURE = { error: "must be 'local', 'allow', 'deny', or { local: { share: 0.25 } }" };
const PART = { error: 'must be a share above 0 and at most 1, such as 0.25' };

const local = strict('failurePolicy', {
  local: strict('local', { share: z.number(PART).gt(0, PART).max(1, PART) }, '{ share: 0.25 }'),
});

/** Fields of a rule that affect requests other than by counting them. */
export const requestFields = {
  failurePolicy: z
    .union([z.enum(['local', 'allow', 'deny'], FAILURE), local], FAILURE)
    .optional()
    .describe('Who decides while the store is out; default: the failurePolicy of the rules.'),
  timeout: DURATION_SCHEMA.optional().describe('The longest wait for permits; default: deny at once.'),
  skipSuccessfulRequests: z
    .boolean(FLAG)
    .optional()
    .describe('Give the permits back after a success, so that only failures count.'),
  skipFailedRequests: z.boolean(FLAG).optional().describe('Give the permits back after a failure.'),
};
