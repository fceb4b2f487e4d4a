import { announce, type FleetBoard, LAYOUT, type MeterLimits, NO_POLICIES } from '@sluice/core/internal';
import type { HeldAxis } from './parts.js';

/** More kinds than this are parts of the keys of users. */
const MOST_KINDS = 10;
const KIND = /^[\w.-]{0,50}$/;

/** The part of a scope before the first `:`, as in `tenant:acme`. Empty without one. */
export const kindOf = (scope: string): string => scope.slice(0, Math.max(0, scope.indexOf(':')));

/** What a meter publishes, so that tools know its axes and how its scopes are named. */
export class PublishedMeter {
  readonly #kinds = new Map<string, Set<string>>();
  #hasMany = false;
  #ended = false;
  #end = () => {};

  /** @param limits called when it is published */
  constructor(
    readonly board: FleetBoard | undefined,
    readonly name: string,
    readonly keyPrefix: string,
    readonly limits: () => MeterLimits,
  ) {
    this.changed();
  }

  /** A call counts for these scopes. */
  uses(axes: readonly HeldAxis[]): void {
    if (this.#hasMany) return;
    let isNew = false;
    for (const { scope, axis } of axes) {
      const kind = kindOf(scope);
      const known = this.#kinds.get(kind);
      if (known?.has(axis)) continue;
      isNew = true;
      if (known !== undefined) known.add(axis);
      else this.#kinds.set(kind, new Set([axis]));
      this.#hasMany ||= this.#kinds.size > MOST_KINDS || !KIND.test(kind);
    }
    if (this.#hasMany) this.#kinds.clear();
    if (isNew) this.changed();
  }

  /** Publishes it again. A meter that was closed stays unpublished: its holds may be used on. */
  changed(): void {
    if (this.#ended) return;
    this.#end();
    const { name, keyPrefix } = this;
    this.#end = announce(this.board, LAYOUT, JSON.stringify(['meter', keyPrefix, name]), () => ({
      kind: 'meter',
      name,
      keyPrefix,
      hashTag: name,
      ...NO_POLICIES,
      meter: { ...this.limits(), scopes: this.#scopes },
    }));
  }

  end(): void {
    this.#ended = true;
    this.#end();
  }

  get #scopes(): Record<string, readonly string[]> {
    return Object.fromEntries([...this.#kinds].map(([kind, axes]) => [kind, [...axes]]));
  }
}
