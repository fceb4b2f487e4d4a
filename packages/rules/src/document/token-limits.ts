import type { CST } from 'yaml';

/** The deepest nesting. Deeper documents would exhaust the stack; a rule needs 8. */
const MOST_LEVELS = 64;
/** The most keys of a map: the library compares each key with all others. */
const MOST_ITEMS = 10_000;
const MOST_TOKENS = 200_000;

/** Finds a text that the library would take too long to compose. Works without recursion. */
export function tooLarge(
  tokens: readonly CST.Token[],
): { readonly message: string; readonly offset: number } | undefined {
  const stack: (readonly [token: CST.Token, level: number])[] = tokens.map((token) => [token, 0] as const);
  let count = 0;
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [token, level] = top;
    const refused = (message: string) => ({ message, offset: 'offset' in token ? token.offset : 0 });
    count += 1;
    if (count > MOST_TOKENS) return refused(`the document has more than ${MOST_TOKENS} values`);
    if (level > MOST_LEVELS) return refused(`the document is nested more than ${MOST_LEVELS} levels deep`);
    if (token.type === 'document') {
      if (token.value !== undefined) stack.push([token.value, level + 1]);
    } else if ('items' in token) {
      if (token.items.length > MOST_ITEMS)
        return refused(`a list or an object has at most ${MOST_ITEMS} items`);
      for (const { key, value } of token.items) {
        if (key) stack.push([key, level + 1]);
        if (value !== undefined) stack.push([value, level + 1]);
      }
    }
  }
  return undefined;
}
