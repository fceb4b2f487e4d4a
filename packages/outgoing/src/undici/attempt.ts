import type { LimitReading } from '../calls/time.js';
import { isShortText, mayTell } from '../fetch/body.js';
import { MOST_BODY } from '../parse-rate-limit.js';
import { decoded } from './decoded.js';

/** What undici passes to a handler to steer a response. */
export interface Controller {
  pause(): void;
  resume(): void;
  abort(reason: unknown): void;
}

type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/** The handler of undici 7 and later. */
export interface Handler {
  onRequestStart?(controller: Controller, context: unknown): void;
  onRequestUpgrade?(controller: Controller, status: number, headers: HeaderFields, socket: unknown): void;
  onResponseStart?(controller: Controller, status: number, headers: HeaderFields, message?: string): void;
  onResponseData?(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd?(controller: Controller, trailers: HeaderFields): void;
  onResponseError?(controller: Controller, error: unknown): void;
}

/** For errors before a request was sent. */
export const NO_CONTROLLER: Controller = { pause() {}, resume() {}, abort() {} };

/**
 * One time that a request is sent. Holds its response until it is known whether it is passed on: also the body, if it may say why the call
 * was refused.
 */
export class Attempt implements Handler {
  statusCode = 0;
  headers: HeaderFields = {};
  /** Did the client end the request? Its reason is the error then, and undici's `fetch` has no other sign of it. */
  isAborted = false;
  #message: string | undefined;
  #controller: Controller = NO_CONTROLLER;
  /** Ends the request. Kept because a handler may put its own function in the controller, as undici's `dump` does. */
  #abort: Controller['abort'] = NO_CONTROLLER.abort;
  /** The body until it is passed on. */
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #trailers: HeaderFields | undefined;
  #failure: { readonly error: unknown } | undefined;
  #state: 'held' | 'passed' | 'dropped' = 'held';
  #done: (() => void) | undefined;
  /** Ends the limit of the time in which a body is read for its reason. */
  #stopLimit = (): void => {};

  constructor(
    readonly handler: Handler,
    readonly received: (attempt: Attempt) => void,
    readonly failed: (error: unknown) => void,
    readonly limitReading: LimitReading,
    /** May a success be a refusal? */
    readonly readsSuccess: boolean,
  ) {}

  /** The body that may say why; '' if it is long, breaks or takes too long. */
  get text(): string {
    const isWhole = this.#trailers !== undefined && this.#bytes <= MOST_BODY;
    if (!isWhole || !this.#mayTell) return '';
    return decoded(Buffer.concat(this.#chunks), this.#header('content-encoding') ?? '', MOST_BODY);
  }

  get #mayTell(): boolean {
    if (!mayTell(this.statusCode, this.readsSuccess)) return false;
    return isShortText(this.#header('content-type'), this.#header('content-length'), MOST_BODY);
  }

  #header(name: string): string | null {
    const value = this.headers[name];
    return value === undefined ? null : String(value);
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#controller = controller;
    const abort = controller.abort.bind(controller);
    this.#abort = abort;
    controller.abort = (reason) => {
      this.isAborted = true;
      abort(reason);
    };
    this.handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(controller: Controller, status: number, headers: HeaderFields, socket: unknown): void {
    this.statusCode = status;
    this.headers = headers;
    this.#state = 'passed';
    this.received(this);
    this.handler.onRequestUpgrade?.(controller, status, headers, socket);
  }

  onResponseStart(controller: Controller, status: number, headers: HeaderFields, message?: string): void {
    if (status < 200) {
      this.handler.onResponseStart?.(controller, status, headers, message);
      return;
    }
    this.statusCode = status;
    this.headers = headers;
    this.#message = message;
    if (this.#mayTell) this.#stopLimit = this.limitReading(() => this.#hold(controller));
    else this.#hold(controller);
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (this.#state === 'passed') this.handler.onResponseData?.(controller, chunk);
    if (this.#state !== 'held') return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes > MOST_BODY) this.#hold(controller);
  }

  onResponseEnd(controller: Controller, trailers: HeaderFields): void {
    this.#stopLimit();
    this.#done?.();
    if (this.#state === 'passed') this.handler.onResponseEnd?.(controller, trailers);
    this.#trailers = trailers;
    this.received(this);
  }

  onResponseError(controller: Controller, error: unknown): void {
    this.#stopLimit();
    this.#done?.();
    if (this.#state === 'passed') this.handler.onResponseError?.(controller, error);
    this.#failure = { error };
    // A status and headers count, whatever becomes of the body. Neither does anything once the response was received.
    if (this.statusCode > 0) this.received(this);
    else this.failed(error);
  }

  #hold(controller: Controller): void {
    this.#stopLimit();
    controller.pause();
    this.received(this);
  }

  /** The response is the result of the call. @param done called when it is over */
  pass(done: () => void): void {
    const isUpgrade = this.#state === 'passed';
    this.#state = 'passed';
    this.#done = done;
    const failure = this.#failure;
    const isOver = failure !== undefined || this.#trailers !== undefined;
    if (isUpgrade || isOver) done();
    if (isUpgrade) return;
    try {
      this.#deliver();
    } catch (error) {
      // undici aborts a request whose handler throws, but does not see this error. An aborted request passes it to its handler.
      if (isOver) this.handler.onResponseError?.(this.#controller, error);
      else this.#abort(error);
      return;
    }
    if (failure !== undefined) this.handler.onResponseError?.(this.#controller, failure.error);
  }

  /** Passes on what has arrived. */
  #deliver(): void {
    const { handler, statusCode, headers } = this;
    const controller = this.#controller;
    const chunks = this.#chunks;
    this.#chunks = [];
    handler.onResponseStart?.(controller, statusCode, headers, this.#message);
    for (const chunk of chunks) handler.onResponseData?.(controller, chunk);
    if (this.#failure !== undefined) return;
    if (this.#trailers === undefined) controller.resume();
    else handler.onResponseEnd?.(controller, this.#trailers);
  }

  /** The call is sent again: the rest of the response is not used. */
  drop(): void {
    this.#state = 'dropped';
    this.#chunks = [];
    this.#controller.resume();
  }
}
