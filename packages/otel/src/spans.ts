import { tracingChannel } from 'node:diagnostics_channel';
import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { DecisionMessage } from '@sluice/core';
import { ERROR_TYPE, errorType, LIMITER, MODE, POLICY, RESULT, SOURCE } from './attributes.js';

const REMAINING = 'sluice.remaining';
const RETRY_AFTER = 'sluice.retry_after_ms';
const WAITED = 'sluice.waited_ms';

/**
 * A span `sluice decide` for each `consume` and `acquire` within a span that is recorded. Returns a function that stops it.
 * @param guarded wraps each subscriber
 */
export function traceDecisions(
  tracer: Tracer,
  guarded: (subscriber: (message: DecisionMessage) => void) => (message: DecisionMessage) => void,
): () => void {
  const spans = new WeakMap<DecisionMessage, Span>();
  const end = (message: DecisionMessage) => {
    const span = spans.get(message);
    if (span === undefined || message.result === undefined) return;
    spans.delete(message);
    describe(span, message);
    span.end();
  };
  const subscribers = {
    start: guarded((message) => {
      if (message.operation === 'peek' || trace.getActiveSpan()?.isRecording() !== true) return;
      const attributes = { [LIMITER]: message.limiter, [MODE]: message.mode };
      const options = { kind: SpanKind.INTERNAL, attributes };
      spans.set(message, tracer.startSpan('sluice decide', options, context.active()));
    }),
    // A call that needs no network has its result at `end`.
    end: guarded(end),
    asyncEnd: guarded(end),
  };
  const channel = tracingChannel<unknown, DecisionMessage>('sluice:decide');
  // Node accepts some of the subscribers; its types want all of them.
  const some = subscribers as unknown as Parameters<typeof channel.subscribe>[0];
  channel.subscribe(some);
  return () => void channel.unsubscribe(some);
}

function describe(span: Span, { result, decision, error }: DecisionMessage): void {
  const attributes: Attributes = { [RESULT]: result };
  if (decision !== undefined) {
    attributes[POLICY] = decision.policy;
    attributes[SOURCE] = decision.source;
    attributes[REMAINING] = decision.remaining;
    attributes[WAITED] = decision.waited;
    // JSON has no number for a wait without end.
    if (Number.isFinite(decision.retryAfter)) attributes[RETRY_AFTER] = decision.retryAfter;
  }
  if (result === 'denied') span.addEvent('denied');
  if (result === 'error') {
    attributes[ERROR_TYPE] = errorType(error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.setAttributes(attributes);
}
