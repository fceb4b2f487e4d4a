import type { Policy } from '../algorithms/algorithm.js';
import type { EscalateOptions } from '../engine/escalate-options.js';
import { getOrCreate } from '../get-or-create.js';
import { VERSION } from '../version.js';
import { type FleetBoard, MOST_BYTES } from './board.js';
import { publishedHost } from './published-host.js';
import { Publisher } from './publisher.js';

/**
 * - `limiter`: a `RateLimiter`;
 * - `per-request`: a limit whose policy is a function of the request; its numbers are the ones used last;
 * - `factory`: the limiters of a `LimiterFactory`; the name and the numbers are the ones used last;
 * - `combined`: a `CombinedLimiter`, whose members are limiters of their own;
 * - `shared`: a `SharedLimiter`, whose rate is in the store.
 */
export type DefinitionKind = 'limiter' | 'per-request' | 'factory' | 'combined' | 'shared';

/** The numbers of a limiter for one plan. */
export interface PlanDefinition {
  readonly policies: Readonly<Record<string, Policy>>;
  readonly escalate?: EscalateOptions | undefined;
  readonly cost?: CallCost | undefined;
}

/** Permits of a call that names no number itself; `varies`: they depend on the call. */
export type CallCost = number | 'varies';

/** A limiter as its process made it. */
export interface LimiterDefinition {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly keyPrefix: string;
  readonly hashTag?: string | undefined;
  /** The policies as data; a single one has the limiter's name. Empty for `combined` and `shared`. */
  readonly policies: Readonly<Record<string, Policy>>;
  /** Was it made with `policies`, by name, and not with one `policy`? */
  readonly several: boolean;
  /** The start of the storage keys of each policy; the encoded key and `suffix` follow. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly suffix: string;
  /** What it counts by, if known: `IP`, `USER`, `METHOD`, or a key template. */
  readonly key?: string | undefined;
  /** Processes take permits in blocks: a few may be out of the store. */
  readonly prefetch?: true | undefined;
  /** How repeated denials block a key, as given. */
  readonly escalate?: EscalateOptions | undefined;
  /** Of a rule: permits of its calls. Absent: 1. */
  readonly cost?: CallCost | undefined;
  /** Of a rule whose numbers depend on a plan: at most 20 plans, first the default one, whose numbers are `policies`, `escalate`, `cost`. */
  readonly plans?: Readonly<Record<string, PlanDefinition>> | undefined;
  /** Of `combined`: the names of its limiters, by their names in the combination. */
  readonly members?: Readonly<Record<string, string>> | undefined;
  /** Of `shared`: the storage key of the rate. */
  readonly rate?: string | undefined;
}

/** Rules of a document that a process has in force. */
export interface RulesDefinition {
  /** The name of the document. */
  readonly name: string;
  /** Where they come from. */
  readonly source: string;
  /** As the document has it. */
  readonly version?: string | number | undefined;
  /** Identifies their text. */
  readonly fingerprint?: string | undefined;
  /** Why a later version is not in force. */
  readonly problem?: string | undefined;
}

/** What a process publishes. */
export interface ProcessDefinitions {
  /** Version of @sluice/core. */
  readonly version: string;
  /** Version of the storage keys. */
  readonly layout: string;
  readonly host: string;
  readonly pid: number;
  readonly limiters: readonly LimiterDefinition[];
  /** Limiters that are not in the list, because it is full. */
  readonly omitted: number;
  readonly rules?: readonly RulesDefinition[] | undefined;
}

/** Of a definition without policies of its own. */
export const NO_POLICIES = { policies: {}, several: false, prefixes: {}, suffix: '' } as const;

const TIMES = { soon: 1_000, every: 60_000, ttl: 180_000 };
/** The most limiters that a process publishes. */
const MOST = 200;
/** The most bytes that their texts have together. */
const MOST_BYTES_OF_LIMITERS = 0.9 * MOST_BYTES;

const publishers = new WeakMap<FleetBoard, DefinitionPublisher>();

/**
 * Makes a limiter known to the other processes of its store, soon after its first decision.
 * @param id limiters of one id are published once
 * @param describe called when it is published
 * @returns a function that ends it
 */
export function announce(
  board: FleetBoard | undefined,
  layout: string,
  id: string,
  describe: () => LimiterDefinition,
): () => void {
  if (board?.announces !== true || board.closed) return () => {};
  return getOrCreate(publishers, board, () => new DefinitionPublisher(board, layout)).add(id, describe);
}

/**
 * Makes the rules of a document known to the other processes of a store.
 * @param describe called when they are published
 * @returns functions to call when they have changed, and at their end
 */
export function announceRules(
  board: FleetBoard | undefined,
  layout: string,
  describe: () => RulesDefinition,
): { changed(): void; end(): void } {
  if (board?.announces !== true || board.closed) return { changed() {}, end() {} };
  return getOrCreate(publishers, board, () => new DefinitionPublisher(board, layout)).addRules(describe);
}

class DefinitionPublisher {
  /** In the order of their first limiters. */
  readonly #known = new Map<string, { readonly describe: () => LimiterDefinition; limiters: number }>();
  readonly #rules = new Set<() => RulesDefinition>();
  readonly #publisher: Publisher;
  readonly #layout: string;
  #omitted = 0;

  constructor(board: FleetBoard, layout: string) {
    this.#layout = layout;
    this.#publisher = new Publisher(board, 'definitions', TIMES, () => this.#text());
  }

  add(id: string, describe: () => LimiterDefinition): () => void {
    const known = this.#known.get(id);
    if (known === undefined && this.#known.size >= MOST) return this.#omit();
    const use = known ?? { describe, limiters: 0 };
    use.limiters += 1;
    if (known === undefined) {
      this.#known.set(id, use);
      this.#publisher.changed();
    }
    return once(() => {
      use.limiters -= 1;
      if (use.limiters > 0) return;
      this.#known.delete(id);
      this.#publisher.changed();
    });
  }

  addRules(describe: () => RulesDefinition): { changed(): void; end(): void } {
    this.#rules.add(describe);
    const changed = () => this.#publisher.changed();
    changed();
    const end = () => {
      this.#rules.delete(describe);
      changed();
    };
    return { changed, end };
  }

  #omit(): () => void {
    this.#omitted += 1;
    return once(() => {
      this.#omitted -= 1;
    });
  }

  #text(): string {
    const limiters: LimiterDefinition[] = [];
    let bytes = 0;
    for (const { describe } of this.#known.values()) {
      const limiter = describe();
      bytes += Buffer.byteLength(JSON.stringify(limiter));
      if (bytes <= MOST_BYTES_OF_LIMITERS) limiters.push(limiter);
    }
    const process: ProcessDefinitions = {
      version: VERSION,
      layout: this.#layout,
      host: publishedHost(),
      pid: globalThis.process.pid,
      limiters,
      omitted: this.#omitted + this.#known.size - limiters.length,
      rules: this.#rules.size === 0 ? undefined : [...this.#rules].map((describe) => describe()),
    };
    return JSON.stringify(process);
  }
}

function once(end: () => void): () => void {
  let ended = false;
  return () => {
    if (!ended) end();
    ended = true;
  };
}
