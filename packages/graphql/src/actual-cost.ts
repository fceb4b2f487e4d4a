import { isRecord } from '@sluice/core/internal';
import { Kind } from 'graphql';
import type { RequestedCost, Selected } from './requested-cost.js';

/** What the result has under one name. Fields of several fragments share it. */
interface Entry {
  readonly name: string;
  /** Of the call of its resolver. */
  call: number;
  /** Of each object or leaf. */
  each: number;
  /** Of an answer that found nothing: its resolver may have searched as long as for an object. */
  least: number;
  isList: boolean;
  readonly isIntrospection: boolean;
  readonly selected: Selected[];
  shape?: Shape;
}

/** Entries that can cost something. With `leaf: 0` most fields cannot. */
type Shape = readonly Entry[];

const mayCost = ({ call, each, least, selected }: Entry): boolean =>
  call + each + least > 0 || selected.length > 0;

/**
 * The cost of what an operation returned. Resolvers that returned null, or no items, were called as well.
 * @param root what the operation selects
 */
export function actualCost(requested: RequestedCost, root: Selected, data: unknown): number {
  const { model } = requested;
  const { leaf } = model.costs.defaults;

  /** Merges fields as the execution does, so a fragment is read once for each place. */
  const shapeOf = (all: readonly Selected[]): Shape => {
    const shape = new Map<string, Entry>();
    const seen = new Set<Selected[0]>();
    const add = ([set, parent]: Selected): void => {
      if (seen.has(set)) return;
      seen.add(set);
      for (const node of set.selections) {
        // The result has no such field: each object of a list would be searched for it in vain.
        if (requested.isSkipped(node)) continue;
        const selected = requested.selected(node, parent);
        if (node.kind === Kind.FIELD) {
          const field = requested.fieldOf(node, parent);
          const found = model.of(field);
          const isIntrospection = found === undefined && selected !== undefined;
          const each = found?.each ?? leaf;
          const least = found && (field!.args.length > 0 || parent === root[1]) ? found.each : 0;
          const name = node.alias?.value ?? node.name.value;
          const isList = found?.isList === true;
          const entry = shape.get(name) ?? {
            name,
            call: 0,
            each,
            least,
            isList,
            isIntrospection,
            selected: [],
          };
          entry.call = Math.max(entry.call, requested.calls.get(node) ?? 0);
          entry.each = Math.max(entry.each, each);
          entry.least = Math.max(entry.least, least);
          if (found !== undefined && selected !== undefined) entry.selected.push(selected);
          shape.set(name, entry);
        } else if (selected !== undefined) add(selected);
      }
    };
    for (const selected of all) add(selected);
    return [...shape.values()].filter(mayCost);
  };

  const valueCost = (entry: Entry, value: unknown): number => {
    if (value == null) return 0;
    // The requested cost is in `call`, where each list counts once.
    if (entry.isIntrospection) return leaf * objectsIn(value);
    if (entry.isList && Array.isArray(value)) {
      let sum = 0;
      for (const item of value) sum += item == null ? entry.least : valueCost(entry, item);
      return sum;
    }
    return entry.each + (entry.selected.length > 0 ? objectCost(entry, value) : 0);
  };

  const objectCost = (entry: Pick<Entry, 'selected' | 'shape'>, value: unknown): number => {
    if (!isRecord(value)) return 0;
    entry.shape ??= shapeOf(entry.selected);
    let sum = 0;
    for (const one of entry.shape)
      if (Object.hasOwn(value, one.name))
        sum += Math.max(one.call + valueCost(one, value[one.name]), one.least);
    return sum;
  };

  return objectCost({ selected: [root] }, data);
}

function objectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum, one) => sum + objectsIn(one), isRecord(value) ? 1 : 0);
}
