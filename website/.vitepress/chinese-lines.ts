import type { MarkdownRenderer } from 'vitepress';

/** A mark as wide as a Chinese character, such as `。` or `：`. */
const MARK = /^[\u3000-\u303f\uff00-\uffef]$/;
/** A Chinese character, or a mark that Chinese shares with other languages. */
const CHINESE = /^[\p{Script=Han}“”‘’…—]$/u;

/** Chinese has no spaces between sentences and words, so the end of a line in the source is none. */
export function chineseLines(md: MarkdownRenderer): void {
  md.core.ruler.push('chinese-lines', ({ tokens }) => {
    for (const { children } of tokens) {
      children?.forEach((token, at) => {
        if (token.type !== 'softbreak') return;
        const before = lastOf(children.slice(0, at).map(textOf).join(''));
        const [after = ''] = children
          .slice(at + 1)
          .map(textOf)
          .join('');
        const joined = MARK.test(before) || MARK.test(after) || (CHINESE.test(before) && CHINESE.test(after));
        if (joined) Object.assign(token, { type: 'text', content: '' });
      });
    }
  });
}

const textOf = ({ type, content }: { readonly type: string; readonly content: string }): string =>
  type === 'text' || type === 'code_inline' ? content : '';

const lastOf = (text: string): string => [...text].at(-1) ?? '';
