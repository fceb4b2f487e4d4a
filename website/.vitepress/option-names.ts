import type { MarkdownRenderer } from 'vitepress';

/** Names of options, such as `--dashboard` and `--ca FILE`, stay in one line. A browser breaks a line after a hyphen. */
export function optionNames(md: MarkdownRenderer): void {
  md.core.ruler.push('option-names', ({ tokens }) => {
    for (const { children } of tokens) {
      for (const token of children ?? [])
        if (token.type === 'code_inline' && /^--[\w-]+(?: [A-Z]+)?$/.test(token.content))
          token.attrJoin('class', 'option');
    }
  });
}
