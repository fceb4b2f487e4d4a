import { type Cost, checkCost } from '../limiter/call-options.js';
import type { LimiterSource } from './limiter-of-request.js';
import type { OfRequest } from './request-limit-options.js';

/** @throws RangeError, TypeError for a cost that no limiter takes; what a function gives is checked when it is used */
export function costOfRequest<Args extends readonly unknown[]>(
  where: string,
  cost: Cost | OfRequest<Args, Cost> | undefined,
  { single }: LimiterSource<Args>,
): Cost | OfRequest<Args, Cost> | undefined {
  if (cost !== undefined && typeof cost !== 'function') {
    // Where policies come with requests, so do their names.
    checkCost(`${where}: cost`, cost, single?.names ?? Object.keys(Object(cost)));
  }
  return cost;
}
