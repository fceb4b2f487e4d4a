import {
  type FleetBoard,
  type LimiterDefinition,
  type ProcessDefinitions,
  publishDefinitions,
} from '@sluice/core/internal';
import { OTHER_LIMITERS } from '../usage/usage-summary.js';
import { withAllScopes } from './meter-scopes.js';
import { parseDefinitions } from './parse-definitions.js';
import { type LeftOut, noticeBoard, readNotes } from './read-notes.js';

/** A process of the fleet, and its limiters. */
export interface FleetProcess extends ProcessDefinitions {
  /** Random id of its store object. */
  readonly process: string;
  /** ms since it published them. */
  readonly age: number;
}

/** A store, or what else reads its notice board. */
export interface Published {
  readonly fleet?: Pick<FleetBoard, 'read'> | undefined;
}

/**
 * The limiters of all processes that use a store, the latest first. A process publishes them soon after its first decision, or
 * when it reads them itself, and is listed until three minutes after its last sign of life.
 * @param leftOut gets each text that cannot be read, and each part of one: another program, or a later version, has written it
 * @throws TypeError if the store has no notice board; StoreUnavailableError, StoreConfigurationError
 */
export async function readDefinitions(
  store: Published,
  leftOut: (note: LeftOut) => void = () => {},
): Promise<readonly FleetProcess[]> {
  const board = noticeBoard('readDefinitions', store);
  await publishDefinitions(board); // this process's limiters up to now
  const notes = await readNotes(board, 'definitions', parseDefinitions, leftOut);
  return withAllScopes(notes.map(({ process, age, value }) => ({ process, age, ...value })));
}

/**
 * The limiter that has the key of a call: of a combination, one of its members.
 * @param limiters several combinations may have one name
 * @param part a member, or a policy of one: the `scope` of a counted key, or the `policy` of a denial
 * @returns undefined if no combination of that name has the member
 */
export function ownerOf(
  limiters: Iterable<Pick<LimiterDefinition, 'name' | 'members'>>,
  limiter: string,
  part: string,
): { readonly limiter: string; readonly member: string } | undefined {
  for (const { name, members = {} } of limiters) {
    if (name !== limiter) continue;
    const found = Object.entries(members).find(
      ([member]) => part === member || part.startsWith(`${member}.`),
    );
    if (found !== undefined) return { member: found[0], limiter: found[1] };
  }
  return undefined;
}

/**
 * The limiter of a counted key.
 * @param scope of the key; in `(other)` the name of its limiter, and then the member
 * @returns the limiter that was called; of a combination also the member, and the limiter that has the key if it is known
 */
export function ownerOfCounted(
  limiters: Iterable<Pick<LimiterDefinition, 'name' | 'members'>>,
  limiter: string,
  scope: string | undefined,
): { readonly name: string; readonly member?: string | undefined; readonly owner?: string | undefined } {
  const [name = limiter, member] = limiter === OTHER_LIMITERS ? (scope?.split(' ') ?? []) : [limiter, scope];
  return { name, member, owner: member === undefined ? name : ownerOf(limiters, name, member)?.limiter };
}
