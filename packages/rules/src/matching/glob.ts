/** Matches texts with a pattern in which `*` stands for any characters. Runs without backtracking, in time linear in the text. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*');
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (parts.length === 1) return (text) => text === pattern;
  const least = first.length + last.length;
  const middle = parts.slice(1, -1);
  return (text) => {
    if (text.length < least || !text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of middle) {
      const found = text.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Matches texts with one of several patterns; patterns without a `*` need one look-up. */
export function compileGlobs(patterns: readonly string[]): (text: string) => boolean {
  const words = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns.filter((pattern) => pattern.includes('*')).map(compileGlob);
  return (text) => words.has(text) || globs.some((matches) => matches(text));
}
