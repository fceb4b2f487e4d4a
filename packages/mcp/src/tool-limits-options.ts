import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import {
  type ConcurrencyPolicy,
  concurrency as concurrencyPolicy,
  type LimiterBaseOptions,
  type LimiterPolicies,
} from '@sluice/core';
import {
  checkFunction,
  checkInteger,
  checkName,
  checkOneOf,
  checkOptions,
  describe,
  isRecord,
} from '@sluice/core/internal';

/** What the SDK passes to the handler of a call: `authInfo`, `requestInfo`, `sessionId`, `signal`, … */
export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A call of a tool, as the client sent it: nothing in it is checked. */
export interface ToolCall {
  readonly tool: string;
  /** Before the tool's own schema has checked them. An empty object if the client sent none. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly extra: CallExtra;
}

/** The options of a limiter that apply to all limits of the tools. */
const BASE = ['name', 'store', 'keyPrefix', 'hashTag', 'deadline', 'failurePolicy', 'denyCache'] as const;
const OWN = ['perCredential', 'perTool', 'concurrency', 'cost', 'credential', 'denied'] as const;

/** Names of tools as the SDK knows them, and the other characters that names of limiters may have. */
const TOOL = /^[\w.:/@#-]{1,128}$/;

/** The options of `toolLimits`. */
export interface ToolLimitsOptions extends Pick<LimiterBaseOptions, (typeof BASE)[number]> {
  /** The limit of each credential, for all tools together: a policy, or several by name. */
  readonly perCredential?: LimiterPolicies | undefined;
  /** The limits of single tools, by their names. Each credential has a count of its own for each of them. */
  readonly perTool?: Readonly<Record<string, LimiterPolicies>> | undefined;
  /** The most calls of a credential that run at the same time: a number, or `concurrency({ limit, lease })`. */
  readonly concurrency?: number | ConcurrencyPolicy | undefined;
  /** What a call takes of `perCredential` and `perTool`: a number for each tool, or a function. Default: 1. */
  readonly cost?: Readonly<Record<string, number>> | ((call: ToolCall) => number) | undefined;
  /**
   * Who calls, as a text. Default: `sub:…` by `authInfo.extra.sub`, otherwise `client:…` by `authInfo.clientId`; `local` over stdio. A call
   * over HTTP without `authInfo` then fails.
   */
  readonly credential?: ((extra: CallExtra) => string) | undefined;
  /**
   * The answer to a denied call: `'result'`, which the model reads, or `'error'`, a JSON-RPC error with the code -32004 and `data.retryAfter` in
   * seconds. Default: `'result'`.
   */
  readonly denied?: 'result' | 'error' | undefined;
}

/** @throws TypeError, RangeError naming the invalid option */
export function checkToolLimitsOptions(options: ToolLimitsOptions) {
  checkOptions('toolLimits', options, [...OWN, ...BASE]);
  const { perCredential, perTool = {}, concurrency, cost = {}, credential, denied = 'result' } = options;
  const { name = 'mcp', store, keyPrefix, hashTag, deadline, failurePolicy, denyCache } = options;
  checkName('toolLimits: name', name);
  checkFunction('toolLimits: credential', credential);
  if (!isRecord(perTool)) {
    throw new TypeError(
      `toolLimits: perTool must be an object of policies by the names of tools, such as { search: fixedWindow({ … }) }, not ${describe(perTool)}`,
    );
  }
  if (perCredential === undefined && concurrency === undefined && Object.keys(perTool).length === 0) {
    throw new TypeError('toolLimits: pass perCredential, perTool or concurrency: no call would be limited');
  }
  for (const tool of Object.keys(perTool)) {
    if (!TOOL.test(tool)) {
      throw new TypeError(
        `toolLimits: perTool: the name of a tool must be 1 to 128 letters, digits or . _ - : / @ #, not ${describe(tool)}`,
      );
    }
  }
  checkOneOf('toolLimits: denied', denied, ['result', 'error']);
  return {
    ...{ perCredential, name, store, denied, credential },
    perTool: new Map(Object.entries(perTool)),
    concurrency: checkConcurrency(concurrency),
    cost: typeof cost === 'function' ? cost : costByTool(cost),
    base: { keyPrefix, hashTag, deadline, failurePolicy, denyCache },
  };
}

function checkConcurrency(given: number | ConcurrencyPolicy | undefined): ConcurrencyPolicy | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'number') return concurrencyPolicy({ limit: given });
  if (given?.algorithm === 'concurrency') return given;
  throw new TypeError(
    `toolLimits: concurrency must be a number or concurrency({ limit, lease }), not ${describe(given)}`,
  );
}

function costByTool(costs: Readonly<Record<string, number>>): (call: ToolCall) => number {
  if (!isRecord(costs)) {
    throw new TypeError(
      `toolLimits: cost must be an object of numbers by the names of tools, or a function, not ${describe(costs)}`,
    );
  }
  const byTool = new Map(
    Object.entries(costs).map(([tool, cost]) => [tool, checkInteger(`toolLimits: cost.${tool}`, cost, 0)]),
  );
  return ({ tool }) => byTool.get(tool) ?? 1;
}
