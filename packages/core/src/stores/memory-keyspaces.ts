/** What all keys of a limit have in common, and how many of them are remembered. */
interface Keyspace {
  readonly name: string;
  readonly number: number;
  keys: number;
}

/** Numbers for keyspaces, from 0, used again when a keyspace has no more keys: so there are never more than keys. */
export class MemoryKeyspaces {
  readonly #byName = new Map<string, Keyspace>();
  readonly #byNumber: Keyspace[] = [];
  readonly #free: number[] = [];

  find(name: string): number | undefined {
    return this.#byName.get(name)?.number;
  }

  name(number: number): string {
    return this.#byNumber[number]!.name;
  }

  /** For one key more. @returns its number */
  enter(name: string): number {
    let keyspace = this.#byName.get(name);
    if (keyspace === undefined) {
      keyspace = { name, number: this.#free.pop() ?? this.#byNumber.length, keys: 0 };
      this.#byName.set(name, keyspace);
      this.#byNumber[keyspace.number] = keyspace;
    }
    keyspace.keys += 1;
    return keyspace.number;
  }

  /** For one key less. */
  leave(number: number): void {
    const keyspace = this.#byNumber[number]!;
    keyspace.keys -= 1;
    if (keyspace.keys > 0) return;
    this.#byName.delete(keyspace.name);
    this.#free.push(number);
  }
}
