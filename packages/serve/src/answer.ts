import { getOrCreate } from '@sluice/core/internal';
import type { ResponseView } from '@sluice/http';

/** The headers of an answer, of either protocol, and the end of its call. */
export class Answer extends Map<string, string> implements ResponseView {
  readonly status = 200;
  sent = false;
  readonly #listeners: ((complete: boolean) => void)[] = [];
  /** The names as they were first set, by those in lower case. */
  readonly #names = new Map<string, string>();

  override get(name: string): string | undefined {
    return super.get(this.#names.get(name.toLowerCase()) ?? name);
  }

  override set(name: string, value: string): this {
    return super.set(
      getOrCreate(this.#names, name.toLowerCase(), () => name),
      value,
    );
  }

  append(name: string, items: string): void {
    const before = this.get(name);
    this.set(name, before === undefined ? items : `${before}, ${items}`);
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
