import { isSluiceError, type Policy, type RateLimiter } from '@sluice/core';
import { checkOneOf, type LimiterDefinition } from '@sluice/core/internal';
import { type InspectedPolicy, inspectKey } from '@sluice/fleet';
import { json, Refusal } from './answers.js';
import { keyOf } from './key-watch.js';
import type { Limiters } from './limiters.js';
import type { Change } from './messages.js';

type Body = Readonly<Record<string, unknown>>;

const DONE: Readonly<Record<Change['action'], string>> = {
  unblock: 'Unblocked.',
  reset: 'Reset.',
  override: 'Overridden.',
  removeOverride: 'The override has ended.',
};
const ACTIONS = Object.keys(DONE) as Change['action'][];

/** Changes a key, and returns a text about its earlier state. @throws Refusal */
export async function change(limiters: Limiters, body: Body): Promise<Response> {
  const { limiter: name, key } = keyOf(body);
  try {
    const action = checkOneOf('action', body.action, ACTIONS);
    if (body.confirmed !== true) throw new Refusal(400, 'Confirm the change: `confirmed: true`');
    const definition = await limiters.definition(name);
    const limiter = await limiters.opened(name);
    const { policies } = await inspectKey(limiters.store, definition, key);
    await carryOut(limiter, definition, key, action, body);
    return json(200, { done: `${DONE[action]} Before: ${policies.map(before).join('; ')}.` });
  } catch (error) {
    if (isSluiceError(error)) throw new Refusal(503, error.message);
    if (error instanceof TypeError || error instanceof RangeError) throw new Refusal(400, error.message);
    throw error;
  }
}

async function carryOut(
  limiter: RateLimiter,
  definition: LimiterDefinition,
  key: string,
  action: Change['action'],
  body: Body,
): Promise<void> {
  switch (action) {
    case 'unblock':
      return limiter.unblock(key);
    case 'reset':
      return limiter.reset(key);
    case 'removeOverride':
      return limiter.removeOverride(key);
    case 'override': {
      const { policy, expiresIn } = override(definition, body);
      return limiter.override(key, policy, { expiresIn });
    }
  }
}

/** @throws Refusal */
function override({ policies, several }: LimiterDefinition, { policy, numbers, expiresIn }: Body) {
  if (typeof policy !== 'string' || !Object.hasOwn(policies, policy)) throw new Refusal(400, 'Name a policy');
  if (typeof expiresIn !== 'string') throw new Refusal(400, "expiresIn must be a duration, such as '1h'");
  if (typeof numbers !== 'object' || numbers === null) throw new Refusal(400, 'numbers must be an object');
  const own = policies[policy]!;
  for (const [number, value] of Object.entries(numbers)) {
    const known = Object.hasOwn(own, number) && typeof own[number as keyof Policy] === 'number';
    if (!known || typeof value !== 'number') throw new Refusal(400, `'${number}' is no number of the policy`);
  }
  const other = { ...own, ...numbers } as Policy;
  return { policy: several ? { [policy]: other } : other, expiresIn: expiresIn as `${number}h` };
}

function before({ name, remaining, overridden, blockedUntil }: InspectedPolicy): string {
  const more = [overridden ? ', overridden' : '', blockedUntil > 0 ? ', blocked' : ''].join('');
  return `${name} had ${remaining} left${more}`;
}
