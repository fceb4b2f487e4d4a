import type { MarkdownRenderer } from 'vitepress';

const colored = new Map<string, string>();

/** Colors each code once. The search, and the pages in two languages, have most of it again, and colors take a third of a build. */
export function rememberedCode(md: MarkdownRenderer): void {
  const { highlight } = md.options;
  if (!highlight) throw new Error('The site shows code in colors, but VitePress has no highlighter');
  md.options.highlight = (code, language, attributes) => {
    const key = JSON.stringify([code, language, attributes]);
    const known = colored.get(key) ?? highlight(code, language, attributes);
    colored.set(key, known);
    return known;
  };
}
