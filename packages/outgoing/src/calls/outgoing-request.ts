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

/** Reads headers in any form that a client takes, without copying them. */
export function headersOf(source: HeaderSource | undefined): OutgoingRequest['headers'] {
  if (source === undefined) return { get: () => null };
  if (typeof (source as Headers).get === 'function') return source as Headers;
  const entries = Array.isArray(source) ? (source as (readonly string[])[]) : Object.entries(source);
  return {
    get(name) {
      const wanted = name.toLowerCase();
      for (const [key, value] of entries) {
        if (key!.length === wanted.length && key!.toLowerCase() === wanted && value != null)
          return String(value);
      }
      return null;
    },
  };
}
