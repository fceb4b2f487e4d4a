import type { ResponseView } from '@sluice/http';

/** The headers of an answer, of either protocol, and the end of its call. */
export class Answer extends Map<string, string> implements ResponseView {
  readonly status = 200;
  sent = false;
  readonly #listeners: ((complete: boolean) => void)[] = [];

  append(name: string, items: string): void {
    this.set(name, this.has(name) ? `${this.get(name)}, ${items}` : items);
  }

  whenOver(listener: (complete: boolean) => void): void {
    if (this.sent) listener(false);
    else this.#listeners.push(listener);
  }

  /** Releases what the call holds, and stops its wait if the client disconnected. */
  end(): void {
    this.sent = true;
    for (const listener of this.#listeners.splice(0)) listener(false);
  }

  endBegun(): void {}
}
