import type { Attributes, BatchObservableResult, Observable } from '@opentelemetry/api';

/** Time series of one observable instrument, by the values of its attributes. An undefined value is omitted. */
export class Series<Names extends readonly string[]> {
  readonly #counts = new Map<string, Count>();

  /** @param collecting called before the counts are observed */
  constructor(
    readonly instrument: Observable,
    private readonly names: Names,
    private readonly collecting = () => {},
  ) {}

  of(...values: { [N in keyof Names]: string | undefined }): Count {
    const id = values.join('\n');
    const known = this.#counts.get(id);
    if (known !== undefined) return known;
    const count = new Count(attributesOf(this.names, values as readonly (string | undefined)[]));
    this.#counts.set(id, count);
    return count;
  }

  observe(result: BatchObservableResult): void {
    this.collecting();
    for (const { value, attributes } of this.#counts.values())
      result.observe(this.instrument, value, attributes);
  }
}

export type AnySeries = Pick<Series<readonly string[]>, 'instrument' | 'observe'>;

export class Count {
  value = 0;

  constructor(readonly attributes: Attributes) {}
}

export function attributesOf(
  names: readonly string[],
  values: readonly (string | undefined)[],
): Record<string, string> {
  const attributes: Record<string, string> = {};
  names.forEach((name, i) => {
    const value = values[i];
    if (value !== undefined) attributes[name] = value;
  });
  return attributes;
}
