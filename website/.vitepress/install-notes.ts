import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { pathOf, root } from './pages';

/** Which packages are on npm: all, or those of these names. */
const { onNpm }: { onNpm: 'all' | string[] } = JSON.parse(
  readFileSync(join(root, 'scripts/published.json'), 'utf8'),
);

/** Our packages in a command that installs them, such as `npm install @sluice/core`. An example is installed with this repository: `npm install && npm start`. */
const INSTALLED = /^(?:npm install|pnpm add|yarn add) (?!&&).*$/gm;
const OURS = /@sluice\/[\w-]+/g;

const NOTE =
  '<p>Not on npm yet: <a href="/installing#from-this-repository">install from the repository</a>.</p>\n';
const CHINESE_NOTE = '<p>尚未发布到 npm：<a href="/zh/installing#从本仓库安装">从本仓库安装</a>。</p>\n';

/** Adds a note behind each command that installs packages which are not on npm. The page that explains it needs none. */
export function installNotes(md: MarkdownRenderer): void {
  md.core.ruler.push('install-notes', (state) => {
    const path: string | undefined = state.env.realPath ?? state.env.path;
    const page = path === undefined ? undefined : pathOf(relative(root, path));
    if (path === undefined || page === 'installing' || page === 'zh/installing') return;
    for (let at = state.tokens.length - 1; at >= 0; at -= 1) {
      const { type, content } = state.tokens[at]!;
      const names = type === 'fence' ? (content.match(INSTALLED)?.join('\n').match(OURS) ?? []) : [];
      if (names.every((name) => onNpm === 'all' || onNpm.includes(name))) continue;
      const note = new state.Token('html_block', '', 0);
      note.content = page?.startsWith('zh/') ? CHINESE_NOTE : NOTE;
      state.tokens.splice(at + 1, 0, note);
    }
  });
}
