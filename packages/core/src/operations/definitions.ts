import type { FleetBoard } from '../fleet/board.js';
import type { LimiterDefinition, ProcessDefinitions, RulesDefinition } from '../fleet/definitions.js';

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
 * The limiters of all processes that use a store, the latest first. A process publishes them soon after its first decision, and is listed
 * until three minutes after its last sign of life.
 * @throws TypeError if the store has no notice board; StoreUnavailableError, StoreConfigurationError
 */
export async function readDefinitions(store: Published): Promise<readonly FleetProcess[]> {
  if (store.fleet === undefined) {
    throw new TypeError(
      'readDefinitions: this store has no notice board. Use memoryStore() or redisStore(…)',
    );
  }
  const notes = await store.fleet.read('definitions');
  return notes.flatMap(({ process, age, text }) => {
    const published = parsed(text);
    return published === undefined ? [] : [{ process, age, ...published }];
  });
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

/** Other programs may write to the same Redis: what is not a definition is left out. */
function parsed(text: string): ProcessDefinitions | undefined {
  let given: Partial<ProcessDefinitions>;
  try {
    given = Object(JSON.parse(text));
  } catch {
    return undefined;
  }
  const { version, layout, host, pid, limiters, omitted, rules } = given;
  if (!Array.isArray(limiters)) return undefined;
  return {
    version: String(version),
    layout: String(layout),
    host: String(host),
    pid: Number(pid),
    limiters: limiters.filter(isDefinition),
    omitted: Number(omitted),
    rules: Array.isArray(rules) ? rules.filter(isRules) : [],
  };
}

function isRules(given: Partial<RulesDefinition> | null): given is RulesDefinition {
  const { name, source, fingerprint = '', problem = '' } = given ?? {};
  return [name, source, fingerprint, problem].every((text) => typeof text === 'string');
}

function isDefinition(given: Partial<LimiterDefinition> | null): given is LimiterDefinition {
  const { kind, name, policies, prefixes, suffix, plans = {} } = given ?? {};
  const areTexts = [kind, name, suffix].every((text) => typeof text === 'string');
  const arePolicies = (map: unknown): boolean =>
    isMap(map) && Object.values(map).every((policy) => typeof Object(policy).algorithm === 'string');
  return (
    areTexts &&
    isMap(prefixes) &&
    arePolicies(policies) &&
    isMap(plans) &&
    Object.values(plans).every((plan) => arePolicies(Object(plan).policies))
  );
}

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null;
