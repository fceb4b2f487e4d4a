import { createHash } from 'node:crypto';
import type { RouteOptions } from 'fastify';

/** `GET:/users/:id`; with a hash if a limiter cannot have that name. */
export function nameOf(route: RouteOptions): string {
  const { method, url } = route;
  const methods = new Set([method].flat().map((one) => (one === 'HEAD' ? 'GET' : one)));
  const name = `${[...methods].join('.')}:${url}${constraintsOf(route)}`;
  const safe = name.replace(/[^\w.:/@#-]/g, '-');
  if (safe === name && name.length <= 100) return name;
  return `${safe.slice(0, 90)}#${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

/** Routes with the same URL and different constraints are different routes. */
export const constraintsOf = ({ constraints = {} }: RouteOptions): string =>
  Object.entries(constraints)
    .map(([name, value]) => `@${name}=${value}`)
    .sort()
    .join('');
