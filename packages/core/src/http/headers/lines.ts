/** A header that was set several times is an array in some frameworks. */
export const linesOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (line): line is string => typeof line === 'string' && line !== '',
  );
