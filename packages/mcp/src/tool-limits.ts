import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  CombinedLimiter,
  type LimiterPolicies,
  memoryStore,
  type Policy,
  RateLimiter,
  type Store,
} from '@sluice/core';
import { hashStoredKey, LONGEST_NAME } from '@sluice/core/internal';
import { credentialOf } from './credential.js';
import { answerDenial } from './denial.js';
import { checkToolLimitsOptions, type ToolCall, type ToolLimitsOptions } from './tool-limits-options.js';

/** The limits of a tool, decided together. */
interface ToolLimit {
  /** Undefined for tools that share the limits of all others. */
  readonly tool: string | undefined;
  readonly limiter: CombinedLimiter;
  readonly members: readonly string[];
}

/** A decided call: its permits of all `concurrency` policies are held until `end`. */
interface Admission {
  /** The answer, if the call was denied. */
  readonly denied: CallToolResult | undefined;
  end(): Promise<void>;
}

const UNLIMITED: Admission = { denied: undefined, end: async () => {} };

/** The member of the option `concurrency`, which takes one permit of each call. */
const RUNNING = 'concurrency';

/** Limits on tool calls, for the servers of all sessions. */
export class ToolLimits {
  readonly #options: ReturnType<typeof checkToolLimitsOptions>;
  readonly #ownStore: Store | undefined;
  readonly #opened: { close(): Promise<void> }[] = [];
  readonly #byTool = new Map<string, ToolLimit>();
  /** Of tools without a limit of their own. Names that a client invents create nothing. */
  readonly #others: ToolLimit | undefined;

  /** @internal */
  constructor(options: ToolLimitsOptions) {
    this.#options = checkToolLimitsOptions(options);
    const { store, perCredential, perTool, concurrency } = this.#options;
    this.#ownStore = store === undefined ? memoryStore() : undefined;
    const common = {
      ...(perCredential && { perCredential: this.#open('credential', perCredential) }),
      ...(concurrency && { [RUNNING]: this.#open('running', concurrency) }),
    };
    for (const [tool, policies] of perTool) {
      const members = { ...common, perTool: this.#open(`tool:${tool}`, policies) };
      this.#byTool.set(tool, this.#combine(tool, members));
    }
    if (Object.keys(common).length > 0) this.#others = this.#combine(undefined, common);
  }

  #open(of: string, policies: LimiterPolicies): RateLimiter {
    const { name, base, store = this.#ownStore } = this.#options;
    const given = isPolicy(policies) ? { policy: policies } : { policies };
    const limiter = new RateLimiter({ ...base, name: limiterName(`${name}:${of}`), store, ...given });
    this.#opened.push(limiter);
    return limiter;
  }

  #combine(tool: string | undefined, members: Readonly<Record<string, RateLimiter>>): ToolLimit {
    const { name } = this.#options;
    const of = tool === undefined ? name : limiterName(`${name}:${tool}`);
    const limiter = new CombinedLimiter(members, { name: of });
    this.#opened.push(limiter);
    return { tool, limiter, members: Object.keys(members) };
  }

  /** @throws what the store, `cost` and `credential` throw; the JSON-RPC error of a denied call */
  async #admit(call: ToolCall, isTask: boolean): Promise<Admission> {
    const limit = this.#byTool.get(call.tool) ?? this.#others;
    if (limit === undefined) return UNLIMITED;
    const { limiter, members, tool } = limit;
    const { credential, cost, denied } = this.#options;
    const key = credential === undefined ? credentialOf(call.extra) : credential(call.extra);
    const keys = Object.fromEntries(members.map((member) => [member, key]));
    const taken = cost(call);
    const costs = () => Object.fromEntries(members.map((one) => [one, one === RUNNING ? 1 : taken]));
    const decision = await limiter.consume(keys, taken === 1 ? undefined : { cost: costs() });
    if (decision.allowed) {
      const holds = decision.policies.some(({ held }) => held);
      const end = holds ? () => limiter.release(decision) : UNLIMITED.end;
      return { denied: undefined, end };
    }
    // The client of a task reads no result of a tool.
    return { denied: answerDenial(decision, tool, isTask ? 'error' : denied), end: UNLIMITED.end };
  }

  /** Ends the limits, and the store if none was passed. Running tools go on. */
  async close(): Promise<void> {
    for (const one of this.#opened.splice(0).reverse()) await one.close();
    await this.#ownStore?.close();
  }

  /** @internal @param isTask the client wants a task in place of a result */
  static admit(limits: ToolLimits, call: ToolCall, isTask: boolean): Promise<Admission> {
    return limits.#admit(call, isTask);
  }
}

/**
 * Limits on tool calls. Create them once, and pass them to `limitTools` for the server of each session: all sessions then count together.
 * @throws TypeError, RangeError naming the invalid option
 */
export const toolLimits = (options: ToolLimitsOptions): ToolLimits => new ToolLimits(options);

/** A name that is too long ends in its hash, so no two tools share a limit. */
function limiterName(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const hash = hashStoredKey(name);
  return `${name.slice(0, LONGEST_NAME - hash.length)}${hash}`;
}

const isPolicy = (given: LimiterPolicies): given is Policy => typeof given.algorithm === 'string';
