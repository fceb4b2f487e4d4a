import type { Store } from '@sluice/core';
import {
  checkOptions,
  decide,
  deciderOf,
  isEnvelope,
  KEEP,
  KeyCall,
  KeyState,
  type LimiterDefinition,
  NEVER,
  type StoredKey,
  USUAL_DEADLINE,
} from '@sluice/core/internal';
import { checkAmounts } from './amounts.js';
import type { BudgetLine } from './budget-state.js';
import { kindOf } from './definition.js';
import { stateOf } from './left.js';
import { type HeldAxis, MeterKeys } from './parts.js';

/** One axis of one scope, as a tool shows it. Moments are µs of the store's clock since 1970. */
export interface InspectedAxis extends Omit<BudgetLine, 'resetAfter' | 'blockedFor'> {
  readonly isSoft: boolean;
  /** µs until the amount fits: 0 now, undefined never. A soft axis always lets it pass. */
  readonly wait: number | undefined;
  /** End of a block of the key; 0 without one. */
  readonly blockedUntil: number;
  /** End of an override; undefined without one. */
  readonly overrideUntil: number | undefined;
  /** Does the store keep anything of the key for this axis? */
  readonly known: boolean;
}

/** A scope of a meter. */
export interface InspectedScope {
  readonly scope: string;
  /** Time of the store's clock. */
  readonly now: number;
  readonly known: boolean;
  readonly axes: readonly InspectedAxis[];
}

/** A call that is looked at. */
export interface InspectMeterOptions {
  /** The amounts by axis, as for a hold. Default: 1 of each. */
  readonly amounts?: Readonly<Record<string, number>> | undefined;
  /** The plan of the scope. Default: the default one. */
  readonly plan?: string | undefined;
}

/**
 * Looks at the scopes of a meter of another process that a text may mean, and changes nothing.
 * @param key a key of a scope, or the part of it behind the first `:`
 * @returns the scopes of which the store keeps something; all that it may be if it keeps nothing
 * @throws TypeError for a definition of another kind; RangeError for a value that is not ours, or an invalid amount; StoreUnavailableError
 */
export async function inspectMeter(
  store: Store,
  definition: LimiterDefinition,
  key: string,
  options: InspectMeterOptions = {},
): Promise<readonly InspectedScope[]> {
  checkOptions('inspectMeter', options, ['amounts', 'plan']);
  const { meter, name, keyPrefix } = definition;
  if (meter === undefined) throw new TypeError(`inspectMeter: '${name}' is no meter`);
  const names = Object.keys(meter.axes);
  const amounts = options.amounts && checkAmounts('inspectMeter', options.amounts, names);
  const decider = deciderOf(store, { deadline: USUAL_DEADLINE, denyCache: 0 }); // decides nothing
  const keys = new MeterKeys(name, meter, store, keyPrefix, decider);
  try {
    const scopes = scopesOf(meter.scopes, names, key).map(([scope, axes]) =>
      inspected(store, keys, keys.axesOf([{ key: scope, axes, plan: options.plan }], true), amounts),
    );
    const all = await Promise.all(scopes);
    const known = all.filter((one) => one.known);
    return known.length > 0 ? known : all;
  } finally {
    await keys.close();
  }
}

/** The scopes that a text may mean, each with its axes. */
function scopesOf(
  kinds: Readonly<Record<string, readonly string[]>>,
  names: readonly string[],
  key: string,
): (readonly [scope: string, axes: readonly string[]])[] {
  const axesOf = (kind: string) => names.filter((axis) => kinds[kind]!.includes(axis));
  const known = Object.keys(kinds).filter((kind) => axesOf(kind).length > 0);
  const kind = kindOf(key);
  const isKnown = known.includes(kind);
  if (isKnown && kind !== '') return [[key, axesOf(kind)]];
  const whole: [string, readonly string[]][] = isKnown ? [[key, axesOf(kind)]] : [[key, names]];
  const isWhole = isKnown || kind !== '' || known.length === 0;
  const others = known.filter((one) => one !== '').map((one) => [`${one}:${key}`, axesOf(one)] as const);
  return [...(isWhole ? whole : []), ...others];
}

async function inspected(
  store: Store,
  keys: MeterKeys,
  axes: readonly HeldAxis[],
  amounts: Readonly<Record<string, number>> | undefined,
): Promise<InspectedScope> {
  if (store.look === undefined) throw new TypeError('inspectMeter: this store cannot be looked at');
  const wanted = Object.fromEntries(
    axes.map(({ axis }) => [axis, amounts === undefined ? 1 : (amounts[axis] ?? keys.usualOf(axis))]),
  );
  const parts = keys.partsOf(axes, wanted);
  const stored = await Promise.all(parts.map((part) => store.look!(part)));
  const now = Math.max(...stored.map((one) => one.now));
  // A decision changes states in place.
  const statesOf = (of: typeof parts) =>
    of.map((part, i) => new KeyState(part, structuredClone(stored[i]!.entry), now));
  const none = keys.partsOf(axes, {});
  const peek = decide(KeyCall.of({ operation: 'peek', wait: 0, parts: none, traced: true }), statesOf(none));
  const record = keys.recordOf('inspected', axes, 0, KEEP);
  const hold = decide(
    KeyCall.of({ operation: 'hold', wait: 1_000_000, parts: [record, ...parts], traced: true }),
    [new KeyState(record, undefined, now), ...statesOf(parts)],
  );
  const { lines } = stateOf(keys.name, axes, peek, 0);
  const all = axes.map(({ isSoft, place, spent }, i): InspectedAxis => {
    const wait = hold.parts[1 + place]!.wait;
    const { resetAfter: _, blockedFor: __, ...line } = lines[i]!;
    return {
      ...line,
      isSoft,
      wait: wait === NEVER ? undefined : Math.max(0, wait),
      blockedUntil: peek.parts[place]!.trace!.blockedUntil,
      overrideUntil: overrideOf(stored[place]!, now),
      known: [stored[place], spent && stored[place + 1]].some((one) => one?.entry !== undefined),
    };
  });
  return { scope: axes[0]!.scope, now, known: all.some(({ known }) => known), axes: all };
}

function overrideOf({ entry }: StoredKey, now: number): number | undefined {
  const until = entry !== undefined && isEnvelope(entry) ? entry.overrideUntil : 0;
  return until > now ? until : undefined;
}
