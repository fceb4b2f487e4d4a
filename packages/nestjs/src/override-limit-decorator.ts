import { Catch, type ExceptionFilter, Inject, mixin, Optional, type Type, UseFilters } from '@nestjs/common';
import { warnOnce } from '@sluice/core/internal';
import { type RateLimitGuardOptions, SLUICE_ROOT } from './options.js';
import { type Level, markOverride, type OverrideLimitDecorator } from './override-limit.js';

/**
 * Replaces the `limit` of `SluiceModule` for one handler, or for all handlers of a controller together, and inherits the options it leaves
 * out. With its own `policy`, `policies`, `limits`, `limiter`, `rules` or key it has its own count, named `default:Controller.handler` unless
 * it has a `name`. Without them it shares the count of the module's `limit`: `@OverrideLimit({ cost: 5 })`.
 * @throws TypeError at decoration for an unknown option. Other invalid options fail when the application starts.
 */
export function OverrideLimit(options: RateLimitGuardOptions): OverrideLimitDecorator {
  const mark = markOverride(options);
  return (target: object, name?: string | symbol, descriptor?: PropertyDescriptor): void => {
    if (name === undefined || descriptor === undefined) {
      mark(target as Level);
      UseFilters(moduleCheck((target as Level).name))(target as Level);
    } else {
      mark(target, name, descriptor);
      UseFilters(moduleCheck(`${target.constructor.name}.${String(name)}`))(target, name, descriptor);
    }
  };
}

/** Nothing throws it. */
class Never {}

/**
 * Nest creates the filters of handlers and controllers when an application starts, with what its modules provide. This one warns if there is no
 * `SluiceModule` that would read the override. It catches nothing, so it costs requests nothing.
 */
function moduleCheck(where: string): Type<ExceptionFilter> {
  class ModuleCheck implements ExceptionFilter {
    constructor(root?: object) {
      if (root !== undefined) return;
      warnOnce(
        'SLUICE_OVERRIDE_UNUSED',
        where,
        `@OverrideLimit on ${where} has no effect, because the application does not import SluiceModule.forRoot({ limit }), whose limit it ` +
          'would replace. Import it, or use @UseGuards(RateLimitGuard({ … })) instead',
      );
    }

    catch(): void {}
  }
  Catch(Never)(ModuleCheck);
  Optional()(ModuleCheck, undefined, 0);
  Inject(SLUICE_ROOT)(ModuleCheck, undefined, 0);
  return mixin(ModuleCheck);
}
