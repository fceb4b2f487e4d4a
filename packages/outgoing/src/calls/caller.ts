import { type Cost, isStoreUnavailableError } from '@sluice/core';
import type { RetryBudget } from '../budget/retry-budget.js';
import { readAll } from '../parse-rate-limit.js';
import type { Pause } from '../pauses/pause.js';
import type { RateLimitReader, RateLimitReading, ResponseView } from '../reading/reading.js';
import { Admission, type AdmissionParts, type Ticket, unlessOut, type WaitingCall } from './admission.js';
import type { Outcome } from './circuit.js';
import { type Failure, isCanceled } from './failure.js';
import { Lessons, type SentCall } from './lessons.js';
import type { OutgoingRequest } from './outgoing-request.js';
import { backoff, earliestRetry, mayRepeat, mayRepeatAfterError } from './retry-rules.js';
import { type CallScopes, pauseKeys } from './scopes.js';
import type { LimitReading } from './time.js';

/** How a client sends a request, whatever client it is. */
export interface Exchange<Response> {
  /** Sends it once. */
  send(): Promise<Response>;
  /** What an error of `send` means. */
  failureOf(error: unknown): Failure;
  /** Reads what readers need; the caller's own stream stays whole. @param receivedAt ms since 1970 */
  view(response: Response, receivedAt: number): ResponseView | Promise<ResponseView>;
  /** The response is not used: the call is sent again. Errors are ignored. */
  discard(response: Response): void | Promise<void>;
}

/** A response, and the end of its call. */
export interface Answered<Response> {
  readonly response: Response;
  /** Call it when the response is over. Undefined: nothing is held until then. */
  readonly done: (() => Promise<void>) | undefined;
  /** Reports the actual cost; counted after `done`, if that is needed. Undefined without limits, and if the caller of the call reports it. */
  readonly settle: ((cost: Cost) => Promise<void>) | undefined;
}

/** What all hops of a call share, so that a redirect restarts neither. */
export interface Progress {
  /** ms since 1970: no hop waits longer. */
  readonly deadline: number;
  /** 1 and the retries so far. */
  attempt: number;
  /** Redirects so far. */
  hops: number;
}

/** How calls are repeated. */
export interface RetrySettings {
  /** How often a call is sent at most. */
  readonly attempts: number;
  readonly statuses: readonly number[];
  readonly budget: RetryBudget;
}

/** The functions of the options. */
export interface CallFunctions {
  scopes(request: OutgoingRequest): CallScopes;
  cost(request: OutgoingRequest): Cost;
  priority(request: OutgoingRequest): number;
}

/** The cost of calls, from code that knows it better than the options. */
export interface KnownCost {
  /** Undefined: what the options say, also of its settlement. */
  readonly cost: Cost | undefined;
  /** Resolves when the call is over. Undefined: the estimate stays. */
  readonly actual: Promise<Cost | undefined>;
  /**
   * Called with true each time that the call is sent; with false when nothing was sent after all, or that attempt has failed and another
   * one will follow.
   */
  readonly sent?: ((isSent: boolean) => void) | undefined;
}

/** The first hop has taken the cost of the call, and is settled for it. Each further hop is one more request. */
const furtherHop = ({ sent }: KnownCost): KnownCost => ({
  cost: 1,
  actual: Promise.resolve(undefined),
  sent,
});

/** What a `Caller` needs. */
export interface CallerOptions extends CallFunctions {
  /** The cost of the call that is made now. */
  knownCost(): KnownCost | undefined;
  /** The actual cost of a call could not be counted: its estimate stays. */
  settleFailed(error: unknown): void;
  readonly parts: AdmissionParts;
  readonly reads: readonly RateLimitReader[];
  /** ms */
  readonly timeout: number;
  readonly retry: RetrySettings | undefined;
}

/** What came of one attempt. */
type Attempted<Response> =
  | { readonly response: Response }
  | {
      readonly error: unknown;
      /** Did the upstream give no response, though nobody has cancelled the call? */
      readonly isLost: boolean;
    };

/** What a response says, and the pause that it has caused. */
interface Lesson {
  readonly view: ResponseView;
  readonly reading: RateLimitReading;
  readonly pause: Pause | undefined;
}

/** ms; the reason of a refusal is not worth a longer wait. */
const LONGEST_READING = 1_000;
const NO_CONNECTION = { kind: 'overload', reason: 'no response', status: 0, header: '' } as const;

/** What a response says of the health of its upstream. An overload with a time is a pause for all processes instead. */
function outcomeOf(status: number, { refusal }: RateLimitReading): Outcome {
  if (refusal?.kind !== 'overload') return status < 500 ? 'served' : 'other';
  const { kind, reason, until } = refusal;
  return until === undefined ? { kind, reason, status, header: '' } : 'other';
}

/** The next attempt does not wait for it. */
async function discard<Response>(exchange: Exchange<Response>, response: Response): Promise<void> {
  try {
    await exchange.discard(response);
  } catch {
    // The response is broken, or locked by its client.
  }
}

/** Sends calls: waits, learns from the responses, and repeats what may be repeated. */
export class Caller {
  readonly admission: Admission;
  readonly #lessons: Lessons;

  constructor(readonly options: CallerOptions) {
    this.admission = new Admission(options.parts);
    this.#lessons = new Lessons(options.parts);
  }

  /** Limits the time in which the body of a refusal is read. */
  readonly limitReading: LimitReading = (late) => {
    const stop = new AbortController();
    const end = () => {
      if (!stop.signal.aborted) late();
    };
    void this.options.parts.pauses.sleep(LONGEST_READING, stop.signal, { idle: true }).then(end, end);
    return () => stop.abort();
  };

  /** Of a call that begins now. */
  begin(): Progress {
    const { parts, timeout } = this.options;
    return { deadline: parts.pauses.now + timeout, attempt: 1, hops: 0 };
  }

  /**
   * @param progress of the call that this is a hop of
   * @throws as `Admission.admit` does, and what `exchange.send` throws
   */
  async call<Response>(
    request: OutgoingRequest,
    isReplayable: boolean,
    signal: AbortSignal | undefined,
    exchange: Exchange<Response>,
    progress = this.begin(),
  ): Promise<Answered<Response>> {
    const { options } = this;
    const { pauses } = options.parts;
    const scopes = options.scopes(request);
    const keys = pauseKeys(scopes);
    const ofCall = options.knownCost();
    const known = ofCall?.cost !== undefined && progress.hops > 0 ? furtherHop(ofCall) : ofCall;
    const waiting: WaitingCall = {
      account: scopes.account,
      keys,
      cost: known?.cost ?? options.cost(request),
      priority: options.priority(request),
      deadline: progress.deadline,
      signal,
    };
    const repeatable = { method: request.method, headers: request.headers, isReplayable };
    for (; ; progress.attempt += 1) {
      const ticket = await this.admission.admit(waiting);
      const { refusals } = this.#lessons;
      const sent = await this.#send(ticket, exchange, waiting, known?.sent);
      let ms: number | undefined;
      if ('error' in sent) {
        if (sent.isLost && mayRepeatAfterError(repeatable))
          ms = await this.#nextAttempt(progress.attempt, 'timeout', waiting);
        if (ms === undefined) throw sent.error;
      } else {
        const { response } = sent;
        try {
          const { view, reading, pause } = await this.#learn(response, exchange, {
            scopes,
            keys,
            ticket,
            refusals,
          });
          const isPaused = pause !== undefined;
          const mayWait = !isPaused || pause.until <= waiting.deadline;
          if (mayWait && mayRepeat(repeatable, view.status, reading, options.retry?.statuses ?? []))
            ms = await this.#nextAttempt(
              progress.attempt,
              'retry',
              waiting,
              isPaused,
              earliestRetry(view, reading),
            );
          const isSuccess = reading.refusal === undefined && view.status < 500;
          if (isSuccess && options.retry?.budget.isUsed) await unlessOut(options.retry.budget.succeeded());
        } catch (error) {
          // Nobody gets this response: unread, it would keep its connection.
          void discard(exchange, response);
          await this.#end(ticket);
          throw error;
        }
        if (ms === undefined) return this.#answered(response, ticket, known);
        await this.#end(ticket);
        void discard(exchange, response);
      }
      known?.sent?.(false);
      // The call holds nothing while it waits: others go on.
      if (ms > 0) await pauses.sleep(ms, signal);
    }
  }

  /** Reads a response, and ends what only the call itself held: its right to pass the circuit, and ramps. */
  async #learn<Response>(response: Response, exchange: Exchange<Response>, sent: SentCall): Promise<Lesson> {
    const { ticket } = sent;
    const { circuit, pauses } = this.options.parts;
    let outcome: Outcome = 'other';
    try {
      const viewed = exchange.view(response, pauses.now);
      const view = viewed instanceof Promise ? await viewed : viewed;
      const reading = readAll(this.options.reads, view);
      outcome = outcomeOf(view.status, reading);
      const pause = await this.#lessons.learn(sent, view, reading);
      return { view, reading, pause };
    } finally {
      circuit.leave(ticket.pass, outcome);
      if (ticket.ramps.length > 0) await this.admission.leave(ticket.ramps);
    }
  }

  async #send<Response>(
    ticket: Ticket,
    exchange: Exchange<Response>,
    { account, signal }: WaitingCall,
    sent: KnownCost['sent'],
  ): Promise<Attempted<Response>> {
    try {
      sent?.(true);
      return { response: await exchange.send() };
    } catch (error) {
      const isEnded = signal?.aborted || isCanceled(error);
      const failure = exchange.failureOf(error);
      const isLost = failure === 'lost' && !isEnded;
      this.options.parts.circuit.leave(ticket.pass, isLost ? NO_CONNECTION : 'other');
      await this.admission.leave(ticket.ramps);
      if (failure === 'refused') {
        await this.#giveBack(account, ticket);
        sent?.(false);
      } else await this.#end(ticket); // the upstream may have counted it: only held permits come back
      return { error, isLost };
    }
  }

  /** The call was not sent: all its permits come back. */
  async #giveBack(account: string, { taken }: Ticket): Promise<void> {
    if (taken === undefined) return;
    const { beliefs, budget } = this.options.parts;
    beliefs!.gaveBack(account, taken.decision);
    await unlessOut(budget!.giveBack(taken));
  }

  /**
   * ms until a call is sent again; undefined: it is not.
   * @param isPaused whether the call waits for a pause, so that it need not back off
   * @param until the earliest moment that the response states, ms since 1970. Other calls may have received the same one, so the delay is added
   */
  async #nextAttempt(
    attempt: number,
    kind: 'retry' | 'timeout',
    { deadline }: WaitingCall,
    isPaused = false,
    until = 0,
  ): Promise<number | undefined> {
    const { retry, parts } = this.options;
    if (retry === undefined || attempt >= retry.attempts || parts.pauses.isClosed) return undefined;
    const { now } = parts.pauses;
    const stated = Math.min(parts.pauses.maxPause, Math.max(0, until - now));
    const ms = isPaused ? 0 : stated + backoff(attempt, Math.random());
    if (now + ms > deadline) return undefined;
    return (await retry.budget.take(kind)) ? ms : undefined;
  }

  async #end({ taken }: Ticket): Promise<void> {
    if (taken !== undefined) await unlessOut(this.options.parts.budget!.release(taken));
  }

  #answered<Response>(response: Response, ticket: Ticket, known: KnownCost | undefined): Answered<Response> {
    const { taken } = ticket;
    const { settleFailed, parts } = this.options;
    const { budget } = parts;
    if (taken === undefined) return { response, done: undefined, settle: undefined };
    let end = (): void => {};
    const over = budget!.holds
      ? new Promise<void>((resolve) => {
          end = resolve;
        })
      : undefined;
    const settle = async (cost: Cost) => {
      await over; // because it also gives back permits that are held until the response is over
      try {
        await taken.reservation.settle(cost);
      } catch (error) {
        if (!isStoreUnavailableError(error)) throw error; // the estimate stays spent
      }
    };
    const done = over && (() => this.#end(ticket).finally(end));
    if (known?.cost === undefined) return { response, done, settle };
    void known.actual.then((cost) => (cost === undefined ? undefined : settle(cost))).catch(settleFailed);
    return { response, done, settle: undefined };
  }
}
