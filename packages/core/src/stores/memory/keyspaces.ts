import { detached } from './key-text.js';

/** Numbers for keyspaces, from 0, used again when a keyspace has no more keys: so there are never more than keys. */
export class MemoryKeyspaces {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  /** Stored keys, by the number of their keyspace. */
  readonly #keys: number[] = [];
  readonly #free: number[] = [];

  find(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  name(number: number): string {
    return this.#names[number]!;
  }

  /** For one key more. @returns its number */
  enter(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#free.pop() ?? this.#names.length;
      const text = detached(name);
      this.#numbers.set(text, number);
      this.#names[number] = text;
      this.#keys[number] = 0;
    }
    this.#keys[number]! += 1;
    return number;
  }

  /** For one key less. */
  leave(number: number): void {
    this.#keys[number]! -= 1;
    if (this.#keys[number]! > 0) return;
    this.#numbers.delete(this.#names[number]!);
    this.#names[number] = '';
    this.#free.push(number);
  }
}
