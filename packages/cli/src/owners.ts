import { type FleetDenial, ownerOf } from '@sluice/fleet';
import { ownerOfCounted as ownerIn } from '@sluice/fleet/internal';
import type { Context } from './command.js';
import { axesOf, type Fleet, fleetOf, type KnownLimiter, metersOf } from './fleet.js';

/** A limiter by the name that commands accept, and the combination or the meter that called it, if any. */
export interface Owner {
  readonly limiter: string;
  readonly combination?: string;
}

export type OwnedDenial = FleetDenial & Owner;

/** How long definitions are used before an unknown name causes another read, ms. */
const FRESH = 5_000;

/** The limiter of a counted key. @param scope of the key */
export function ownerOfCounted(fleet: Fleet, limiter: string, scope: string | undefined): Owner {
  const { name, member, owner } = ownerIn(definitionsOf(fleet), limiter, scope);
  if (member === undefined) return { limiter: name };
  return { limiter: owner ?? `${name} (${member})`, combination: name };
}

/** Names denials by their limiters, also by limiters that appear later. */
export class Owners {
  #fleet: Fleet = { processes: [], limiters: [] };
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: Context) {}

  /** The published definitions, or those of the previous read if reading fails. */
  async read(): Promise<Fleet> {
    this.#readAt = Date.now();
    try {
      this.#fleet = await fleetOf(this.context);
    } catch {
      // The follower of denials reports that Redis is out.
    }
    return this.#fleet;
  }

  async of(denials: readonly FleetDenial[]): Promise<readonly OwnedDenial[]> {
    const isKnown = ({ limiter, policy }: FleetDenial) =>
      definitionsOf(this.#fleet).some(({ kind, name }) => name === limiter && kind !== 'combined') ||
      axesOf(this.#fleet).has(limiter) ||
      ownerOf(definitionsOf(this.#fleet), limiter, policy) !== undefined;
    if (!denials.every(isKnown) && Date.now() - this.#readAt > FRESH) await this.read();
    return denials.map((denial) => ownedOf(this.#fleet, denial));
  }
}

/** The denial under the name of its limiter: `rules.api` instead of `api` of the combination `rules`. An axis of a meter has its name already. */
function ownedOf(fleet: Fleet, denial: FleetDenial): OwnedDenial {
  const { limiter: combination, policy } = denial;
  const owner = ownerOf(definitionsOf(fleet), combination, policy);
  if (owner === undefined) {
    const meter = metersOf(fleet).find(({ definition }) => axesOf(fleet, definition.name).has(combination));
    return meter === undefined ? denial : { ...denial, combination: meter.definition.name };
  }
  const { limiter, member } = owner;
  return {
    ...denial,
    combination,
    limiter,
    policy: policy === member ? limiter : policy.slice(member.length + 1),
  };
}

const definitionsOf = ({ limiters }: Fleet): KnownLimiter['definition'][] =>
  limiters.map(({ definition }) => definition);
