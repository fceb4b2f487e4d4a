import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Decision } from '@sluice/core';
import { isFailureDenial, lengthText } from '@sluice/core/internal';

/** No JSON-RPC code is standard for limits; servers have begun to use this one, of the range for servers. */
const LIMITED = -32_004;
/** Where programs find the seconds to wait in a denied result. */
const RETRY_AFTER = 'sluice/retryAfter';

/** What the SDK sends as a JSON-RPC error. */
export class ToolCallDeniedError extends Error {
  readonly code = LIMITED;
  readonly data: { readonly retryAfter?: number };

  constructor(message: string, seconds: number | undefined) {
    super(message);
    this.data = seconds === undefined ? {} : { retryAfter: seconds };
  }
}

/**
 * The answer to a denied call.
 * @param tool its name, if the limits name it: other names are the client's own text
 * @throws the JSON-RPC error, if the answer is one
 */
export function answerDenial(
  decision: Decision,
  tool: string | undefined,
  form: 'result' | 'error',
): CallToolResult {
  // Whole seconds, rounded up: a call at that moment is not too early.
  const seconds = Number.isFinite(decision.retryAfter)
    ? Math.max(1, Math.ceil(decision.retryAfter / 1000))
    : undefined;
  const text = textOf(decision, tool, seconds);
  if (form === 'error') throw new ToolCallDeniedError(text, seconds);
  const result: CallToolResult = { content: [{ type: 'text', text }], isError: true };
  return seconds === undefined ? result : { ...result, _meta: { [RETRY_AFTER]: seconds } };
}

/** For a model, which has no clock and no other source: what was too much, and when to come back. */
function textOf(decision: Decision, tool: string | undefined, seconds: number | undefined): string {
  const { cost, limit, policy } = decision;
  if (seconds === undefined) {
    if (limit === 0) return 'Calls of this tool are not allowed at present. Do not repeat the call.';
    return `This call is too large: it takes ${cost}, and at most ${limit} are allowed. Do not repeat it as it is.`;
  }
  const wait = lengthText(seconds * 1000);
  if (isFailureDenial(decision)) return `Tools cannot be called at present. Call again in ${wait}.`;
  const isOfTool = policy.split('.', 1)[0] === 'perTool';
  if (decision.policies.some(({ name, held }) => held && name === policy)) {
    const calls = isOfTool ? `calls of the tool "${tool}"` : 'calls';
    return `Too many ${calls} at the same time: at most ${limit} may run. Wait until one of them has ended, about ${wait}.`;
  }
  if (isOfTool) return `Too many calls of the tool "${tool}". Call it again in ${wait}, not earlier.`;
  return `Too many calls of tools. Call again in ${wait}, not earlier.`;
}
