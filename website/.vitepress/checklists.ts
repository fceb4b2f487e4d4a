import type { MarkdownRenderer } from 'vitepress';

/** Shows `- [ ] item` as an item with an empty box, as GitHub does. */
export function checklists(md: MarkdownRenderer): void {
  md.core.ruler.push('checklists', ({ tokens, Token }) => {
    tokens.forEach(({ type, children }, at) => {
      const first = children?.[0];
      const item = tokens[at - 2];
      if (type !== 'inline' || item?.type !== 'list_item_open' || !first?.content.startsWith('[ ] ')) return;
      first.content = first.content.slice('[ ] '.length);
      const box = new Token('html_inline', '', 0);
      box.content = '<span class="box" aria-hidden="true"></span>';
      children!.unshift(box);
      item.attrJoin('class', 'task');
    });
  });
}
