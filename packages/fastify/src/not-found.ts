import type { FastifyInstance } from 'fastify';
import type { RateLimitHook } from './limit-hook.js';
import { LIMITED } from './route-limits.js';

/** The hooks of `app.rateLimit({ … })`: limits of their own. */
export const ownHooks = new WeakSet<RateLimitHook>();

/**
 * A not-found handler with a limit of its own has this one instead of the plugin's, as routes do. Fastify announces routes (`onRoute`) but no
 * not-found handlers, so their registration is watched.
 */
export function watchNotFound(app: FastifyInstance): void {
  const set = app.setNotFoundHandler as (this: unknown, ...args: unknown[]) => FastifyInstance;
  app.setNotFoundHandler = function (this: unknown, ...args: unknown[]) {
    const [options, ...rest] = args as [Record<string, unknown> | undefined, ...unknown[]];
    if (typeof options !== 'object' || !limitsItself(options)) return set.apply(this, args);
    return set.call(
      this,
      { ...options, config: { ...(options.config as object), [LIMITED]: true } },
      ...rest,
    );
  } as typeof app.setNotFoundHandler;
}

const limitsItself = ({ preValidation, preHandler }: Record<string, unknown>): boolean =>
  [preValidation, preHandler].flat().some((hook) => ownHooks.has(hook as RateLimitHook));
