/** A call as the functions in the options see it. */
export interface OutgoingRequest {
  /** In capitals. */
  readonly method: string;
  readonly url: URL;
  readonly headers: { get(name: string): string | null };
}

/** Headers as clients take them: `Headers`, pairs, or an object. */
export type HeaderSource =
  | Pick<Headers, 'get'>
  | readonly (readonly string[])[]
  | Readonly<Record<string, unknown>>;

/** axios has `false` for a header that is not sent. */
const textOf = (value: unknown): string | null =>
  value === null || value === undefined || value === false ? null : String(value);

/** Reads headers in any form that a client takes, without copying their values. */
export function headersOf(source: HeaderSource | undefined): OutgoingRequest['headers'] {
  if (source === undefined) return { get: () => null };
  const pairs = Array.isArray(source) || source instanceof Map;
  if (!pairs && typeof (source as Headers).get === 'function')
    return { get: (name) => textOf((source as Headers).get(name)) };
  const entries = pairs ? [...(source as Iterable<readonly string[]>)] : Object.entries(source);
  return {
    get(name) {
      const wanted = name.toLowerCase();
      for (const [key, value] of entries) {
        const text = key!.length === wanted.length && key!.toLowerCase() === wanted ? textOf(value) : null;
        if (text !== null) return text;
      }
      return null;
    },
  };
}
