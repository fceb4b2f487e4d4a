import type { Decision } from '../../packages/core/src/index.js';
import type { RequestLimit, RequestView, ResponseView } from '../../packages/http/src/index.js';

/** A response that ends when the test ends it. */
export class OpenResponse implements ResponseView {
  readonly headers: Record<string, string> = {};
  sent = false;
  status = 200;
  readonly #listeners: ((complete: boolean) => void)[] = [];

  get(name: string): string | undefined {
    return this.headers[name];
  }

  set(name: string, value: string): void {
    this.headers[name] = value;
  }

  append(name: string, items: string): void {
    const before = this.headers[name];
    this.headers[name] = before === undefined ? items : `${before}, ${items}`;
  }

  whenOver(listener: (complete: boolean) => void): void {
    this.#listeners.push(listener);
  }

  endBegun(): void {
    this.end(this.status);
  }

  end(status = 200, complete = true): void {
    this.sent = true;
    this.status = status;
    for (const listener of this.#listeners.splice(0)) listener(complete);
  }
}

/** Sends a request to a limit. Its response stays open unless one is given. */
export const deciding =
  <Args extends readonly unknown[]>(limit: RequestLimit<Args>, response = new OpenResponse()) =>
  async (request: RequestView, ...args: Args): Promise<Decision | undefined> => {
    const verdict = await limit.handle(request, response, ...args);
    return verdict.outcome === 'aborted' ? undefined : verdict.decision;
  };
