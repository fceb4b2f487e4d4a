import { type EachKind, policyKinds } from '../../../packages/core/src/algorithms/index.js';
import type { Conformance } from './conformance.js';

interface Named extends Conformance {
  readonly name: EachKind['name'];
}

/** The record of each algorithm, from its folder. esbuild bundles all files that the path can name. */
export const conformances: readonly Named[] = policyKinds.map(({ name, page }) => ({
  name,
  ...require(`../../../packages/core/src/algorithms/${page}/${page}.conformance.ts`).conformance,
}));

/** What `part` of each record has, in one object. */
export const merged = <T>(
  part: (record: Conformance) => Readonly<Record<string, T>> | undefined,
): Record<string, T> => Object.assign({}, ...conformances.map(part));
