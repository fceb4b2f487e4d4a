/** The fields of a reply of `INFO`. */
export class Info {
  readonly #fields = new Map<string, string>();
  /** Fields that a check needed and the server did not report. */
  readonly missing = new Set<string>();
  /** Was there a reply? Without one, the refusal is reported instead of each field. */
  readonly known: boolean;

  /** @param reply a value that is not text counts as no reply */
  constructor(reply: unknown) {
    this.known = typeof reply === 'string';
    const text = typeof reply === 'string' ? reply : '';
    for (const [, name, value] of text.matchAll(/^([^#:\r\n]+):([^\r\n]*)/gm))
      this.#fields.set(name!, value!);
  }

  /** A field of every server. If this server lacks it, it is reported as missing. */
  text(name: string): string | undefined {
    const value = this.#fields.get(name);
    if (value === undefined && this.known) this.missing.add(name);
    return value;
  }

  number(name: string): number | undefined {
    return numberIn(this.text(name));
  }

  /** A field that depends on the version or the role. */
  optional(name: string): string | undefined {
    return this.#fields.get(name);
  }

  optionalNumber(name: string): number | undefined {
    return numberIn(this.optional(name));
  }

  /** The values of all fields whose names match, such as `/^slave\d+$/`. */
  matching(name: RegExp): string[] {
    return [...this.#fields].filter(([key]) => name.test(key)).map(([, value]) => value);
  }
}

const numberIn = (text: string | undefined): number | undefined => {
  const value = Number(text);
  return text === undefined || text === '' || Number.isNaN(value) ? undefined : value;
};

/** `ip=127.0.0.1,port=6380,state=online` as an object. */
export const pairsIn = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(text.split(',').map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
