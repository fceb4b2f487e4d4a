import { checkOptions, LIMITER_BASE_OPTIONS } from '@sluice/core/internal';
import { KEY_OPTIONS } from '@sluice/http';
import { CHOICES, GUARD_OPTIONS, type RateLimitGuardOptions } from './options.js';

// biome-ignore lint/complexity/noBannedTypes: handlers and controllers, as Nest's ExecutionContext has them
export type Level = Function;

/** Decorates handlers and controllers. */
export interface OverrideLimitDecorator {
  (target: object, name: string | symbol, descriptor: PropertyDescriptor): void;
  (target: Level): void;
}

/** Registered globally, so that all copies of this package share it. */
const OVERRIDE = Symbol.for('sluice.nestjs.overrideLimit');

interface Marked {
  readonly [OVERRIDE]?: RateLimitGuardOptions;
}

/** @throws TypeError for an unknown option, and for anything but a handler or a controller */
export function markOverride(options: RateLimitGuardOptions): OverrideLimitDecorator {
  checkOptions('@OverrideLimit', options, GUARD_OPTIONS);
  return ((target: unknown, name?: unknown, descriptor?: PropertyDescriptor) => {
    const marked = name === undefined ? target : descriptor?.value;
    if (typeof marked !== 'function') {
      throw new TypeError('@OverrideLimit is for handlers and controllers only');
    }
    Object.defineProperty(marked, OVERRIDE, { value: options, configurable: true });
  }) as OverrideLimitDecorator;
}

/** The override of a handler, or of a controller or its base class. */
export const overrideOf = (level: Level): RateLimitGuardOptions | undefined => (level as Marked)[OVERRIDE];

/** The options of `limit`, replaced by those of an override. */
export function overridden(
  limit: RateLimitGuardOptions,
  override: RateLimitGuardOptions,
  levelName: string,
): RateLimitGuardOptions {
  const has = (name: keyof RateLimitGuardOptions) => override[name] !== undefined;
  const chooses = CHOICES.some(has);
  const given = has('limiter') || has('rules');
  const keyed = KEY_OPTIONS.some(has);
  const base: Record<string, unknown> = { ...limit };
  const drop = (names: readonly string[]) => {
    for (const name of names) delete base[name];
  };
  if (chooses) drop([...CHOICES, 'cost', 'notify']);
  // Keys per limit belong to the limits that are replaced.
  if (keyed || has('limits') || has('rules') || (chooses && limit.limiter !== undefined)) drop(KEY_OPTIONS);
  if (given) drop(LIMITER_BASE_OPTIONS);
  else if (chooses || (keyed && limit.limiter === undefined)) base.name = ownName(limit, levelName);
  return { ...base, ...override };
}

/** Characters that limiter names cannot have are escaped, as the decorators do. */
const ownName = ({ name = 'default' }: RateLimitGuardOptions, levelName: string): string =>
  `${name}:${levelName.replace(/[^\w.]/g, (unit) => `@u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}`;
