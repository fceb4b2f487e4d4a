import { isRecord } from '@sluice/core/internal';
import { Kind } from 'graphql';
import type { RequestedCost, Selected } from './requested-cost.js';

/** What the result has under one name. Fields of several fragments share it. */
interface Entry {
  /** Of the call of its resolver. */
  call: number;
  /** Of each object or leaf. */
  each: number;
  isList: boolean;
  readonly selected: Selected[];
  shape?: Shape;
}

type Shape = ReadonlyMap<string, Entry>;

/**
 * The cost of what an operation returned. Resolvers that returned null, or no items, were called as well.
 * @param root what the operation selects
 */
export function actualCost(requested: RequestedCost, root: Selected, data: unknown): number {
  const { model } = requested;

  /** Merges fields as the execution does, so a fragment is read once for each place. */
  const shapeOf = (all: readonly Selected[]): Shape => {
    const shape = new Map<string, Entry>();
    const seen = new Set<Selected[0]>();
    const add = ([set, parent]: Selected): void => {
      if (seen.has(set)) return;
      seen.add(set);
      for (const node of set.selections) {
        const selected = requested.selected(node, parent);
        if (node.kind === Kind.FIELD) {
          const found = model.of(requested.fieldOf(node, parent));
          // Introspection has its whole cost in `calls`.
          const each = found?.each ?? (selected === undefined ? model.costs.defaults.leaf : 0);
          const name = node.alias?.value ?? node.name.value;
          const entry = shape.get(name) ?? { call: 0, each, isList: found?.isList === true, selected: [] };
          entry.call = Math.max(entry.call, requested.calls.get(node) ?? 0);
          entry.each = Math.max(entry.each, each);
          if (found !== undefined && selected !== undefined) entry.selected.push(selected);
          shape.set(name, entry);
        } else if (selected !== undefined) add(selected);
      }
    };
    for (const selected of all) add(selected);
    return shape;
  };

  const valueCost = (entry: Entry, value: unknown): number => {
    if (value == null) return 0;
    if (entry.isList && Array.isArray(value)) {
      let sum = 0;
      for (const item of value) sum += valueCost(entry, item);
      return sum;
    }
    return entry.each + (entry.selected.length > 0 ? objectCost(entry, value) : 0);
  };

  const objectCost = (entry: Pick<Entry, 'selected' | 'shape'>, value: unknown): number => {
    if (!isRecord(value)) return 0;
    entry.shape ??= shapeOf(entry.selected);
    let sum = 0;
    for (const name of Object.keys(value)) {
      const one = entry.shape.get(name);
      if (one !== undefined) sum += one.call + valueCost(one, value[name]);
    }
    return sum;
  };

  return objectCost({ selected: [root] }, data);
}
