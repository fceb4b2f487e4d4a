import { BodyHooks } from '@sluice/http';
import type { RateLimitHookName } from './options.js';

/** The hooks that run before Fastify parses the body. */
export const bodyHooks = new BodyHooks<RateLimitHookName>(
  ['onRequest', 'preParsing'],
  (hook) => `which Fastify parses after the hook '${hook}': use the hook 'preHandler'`,
);
