/** What all keys of a limit have in common, and the slots of those that are remembered. */
export interface Keyspace {
  readonly name: string;
  readonly number: number;
  readonly slots: Map<string, number>;
}

/**
 * Finds the slot of a key by its keyspace and its id. One string joined of both would have to be laid out and hashed with every call;
 * the hash of the keyspace V8 has computed once, and often that of the id.
 */
export class MemoryKeyspaces {
  readonly #byName = new Map<string, Keyspace>();
  readonly #byNumber: Keyspace[] = [];
  /** Numbers of keyspaces that are no more. */
  readonly #free: number[] = [];

  find(name: string, id: string): number | undefined {
    return this.#byName.get(name)?.slots.get(id);
  }

  at(number: number): Keyspace {
    return this.#byNumber[number]!;
  }

  /** @returns the number of the keyspace */
  add(name: string, id: string, slot: number): number {
    let keyspace = this.#byName.get(name);
    if (keyspace === undefined) {
      const number = this.#free.pop() ?? this.#byNumber.length;
      keyspace = { name, number, slots: new Map() };
      this.#byNumber[number] = keyspace;
      this.#byName.set(name, keyspace);
    }
    keyspace.slots.set(id, slot);
    return keyspace.number;
  }

  /** A keyspace goes with its last key. */
  remove(number: number, id: string): void {
    const { name, slots } = this.at(number);
    slots.delete(id);
    if (slots.size > 0) return;
    this.#byName.delete(name);
    this.#free.push(number);
  }
}
