import { relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { pathOf, root } from './pages';

/** Draws an algorithm on its page, behind the first paragraph. On GitHub the page has its own drawing in text only. */
export function drawings(md: MarkdownRenderer): void {
  md.core.ruler.push('drawings', (state) => {
    const path: string | undefined = state.env.realPath ?? state.env.path;
    if (path === undefined) return; // a heading by itself
    const file = relative(root, path);
    const [, name] = /^algorithms\/(.+)$/.exec(pathOf(file) ?? '') ?? [];
    if (name === undefined) return;
    const drawing = new state.Token('html_block', '', 0);
    drawing.content = `<ClientOnly><Algorithm name="${name}" /></ClientOnly>\n`;
    state.tokens.splice(state.tokens.findIndex(({ type }) => type === 'paragraph_close') + 1, 0, drawing);
  });
}
