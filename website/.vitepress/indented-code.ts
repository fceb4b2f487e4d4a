import type { MarkdownRenderer } from 'vitepress';

/** Shows indented code as fenced code, which scrolls by itself instead of widening the page. */
export function indentedCode(md: MarkdownRenderer): void {
  md.core.ruler.push('indented-code', ({ tokens }) => {
    for (const token of tokens) {
      if (token.type === 'code_block')
        Object.assign(token, { type: 'fence', tag: 'code', info: 'text', markup: '```' });
    }
  });
}
