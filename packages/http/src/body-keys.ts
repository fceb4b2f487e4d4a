import { describe } from '@sluice/core/internal';
import type { RequestLimitOptions } from './request-limit-options.js';

/** Does a key template, or one of a list, begin one of its expressions with `body`? */
export const readsBody = (key: unknown): boolean =>
  [key].flat().some((template) => typeof template === 'string' && /#[{<]body\b/.test(template));

type BodyOptions = Pick<RequestLimitOptions<never>, 'key' | 'limits' | 'rules'>;

/** What in valid options reads the body of a request, by its name; undefined if nothing is known to. */
function bodyReader({ key, limits, rules }: BodyOptions): string | undefined {
  if (readsBody(key)) return `key ${describe(key)}`;
  const one = Object.entries(limits ?? {}).find(([, limit]) => readsBody(limit.key));
  if (one !== undefined) return `limits.${one[0]}: key ${describe(one[1].key)}`;
  const rule = rules?.bodyRules[0];
  return rule === undefined ? undefined : `rule '${rule}'`;
}

/** Refuses limits that read the body at a hook that has none yet: every request would get a 500. */
export class BodyHooks<Hook extends string> {
  readonly #early: readonly Hook[];
  readonly #reason: (hook: Hook) => string;
  /** What reads the body in the limits that the program puts on a route itself. */
  readonly #readers = new WeakMap<object, string>();

  /**
   * @param early the hooks that run before the body is parsed
   * @param reason the end of errors: `which is parsed after the hook 'onRequest': use the hook 'preHandler'`
   */
  constructor(early: readonly Hook[], reason: (hook: Hook) => string) {
    this.#early = early;
    this.#reason = reason;
  }

  /** @throws RangeError if valid options read the body at an early hook */
  check(where: string, hook: Hook, options: BodyOptions): void {
    this.#check(where, hook, bodyReader(options));
  }

  /** Remembers what a limit reads, for `checkRoute`. */
  remember(limit: object, options: BodyOptions): void {
    const reader = bodyReader(options);
    if (reader !== undefined) this.#readers.set(limit, reader);
  }

  /** @throws RangeError for a limit among a route's own hooks, as `check` does */
  checkRoute(where: string, hooksOf: (hook: Hook) => readonly object[]): void {
    for (const hook of this.#early)
      for (const limit of hooksOf(hook)) this.#check(where, hook, this.#readers.get(limit));
  }

  #check(where: string, hook: Hook, reader: string | undefined): void {
    if (reader !== undefined && this.#early.includes(hook))
      throw new RangeError(`${where}: ${reader} reads the body, ${this.#reason(hook)}`);
  }
}
