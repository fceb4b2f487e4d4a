import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { githubAnchor } from '../../scripts/anchors';
import { core } from './browser';
import { checklists } from './checklists';
import { chineseLines } from './chinese-lines';
import { drawings } from './drawings';
import { footer } from './footer';
import { indentedCode } from './indented-code';
import { installNotes } from './install-notes';
import { repository, repositoryLinks } from './links';
import { optionNames } from './option-names';
import { EXCLUDED, pathOf, root } from './pages';
import { rememberedCode } from './remembered-code';
import { isListed, referenceSidebars, sidebar } from './sidebar';

/** The mark, which the README and the head of each page also show. */
const icon = readFileSync(join(root, 'docs/pictures/mark.svg'), 'utf8');

const nav = (
  [guide, playground, api]: readonly [string, string, string],
  prefix = '',
): DefaultTheme.NavItem[] => [
  { text: guide, link: `${prefix}/getting-started` },
  { text: playground, link: `${prefix}/playground` },
  { text: api, link: '/reference/' },
];

const chinese = {
  nav: nav(['指南', '演练场', 'API'], '/zh'),
  sidebar: sidebar('zh'),
  outline: { label: '本页目录' },
  docFooter: { prev: '上一页', next: '下一页' },
  darkModeSwitchLabel: '外观',
  darkModeSwitchTitle: '切换到深色',
  lightModeSwitchTitle: '切换到浅色',
  sidebarMenuLabel: '菜单',
  returnToTopLabel: '回到顶部',
  langMenuLabel: '语言',
  skipToContentLabel: '跳到正文',
  footer: footer({ license: '% 许可证', changelog: '更新日志', security: '报告漏洞' }),
  notFound: { title: '没有这个页面', quote: '地址有误，或者页面已经移走。', linkText: '回到首页' },
};

const chineseSearch = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详情',
    resetButtonTitle: '清除',
    backButtonTitle: '关闭',
    noResultsText: '没有结果',
    footer: { selectText: '选择', navigateText: '移动', closeText: '关闭' },
  },
};

/** Words of a text. A code such as SLUICE_STORE_OUT is one word. Chinese has no spaces between words. VitePress sends this function to the browser as text, so it uses no other. */
function tokenize(text: string): string[] {
  return text
    .split(/(?:\s|\p{Z}|(?!_)\p{P})+/u)
    .flatMap((word) =>
      /\p{Script=Han}/u.test(word)
        ? [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(word)].map(({ segment }) => segment)
        : [word],
    );
}

/** Guides before the API, whose many pages have every word, and before decisions. As text, like `tokenize`. */
const boostDocument = (path: string): number => (/\/(reference|decisions)\//.test(path) ? 0.2 : 1);

/** Pages whose tables need the room of the outline. */
const WIDE = new Set(['benchmarks', 'comparison', 'zh/comparison']);

/** Pages lie outside of this folder, from where their imports of Vue would not be found. */
const vueOfThisFolder: Plugin = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId(id, importer) {
    const outside = importer?.endsWith('.md') && /^vue($|\/)/.test(id);
    return outside ? this.resolve(id, fileURLToPath(import.meta.url), { skipSelf: true }) : undefined;
  },
};

export default defineConfig({
  title: 'Sluice',
  description:
    'Rate limits for Node.js, shared by all your processes, kept in memory, a file, Postgres or Redis',
  srcDir: '..',
  outDir: process.env.DOCS_OUT ?? 'dist',
  srcExclude: EXCLUDED,
  rewrites: (file) => `${pathOf(file)}.md`,
  transformPageData({ relativePath, frontmatter }) {
    const path = relativePath.replace(/\.md$/, '');
    if (WIDE.has(path)) frontmatter.aside = false;
    // The theme would show the first page of the sidebar as the next one.
    if (!isListed(path)) Object.assign(frontmatter, { prev: false, next: false });
  },
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  markdown: {
    anchor: { slugify: githubAnchor },
    // Their comments and strings have enough contrast on the background of code.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    config: (md) => {
      repositoryLinks(md);
      indentedCode(md);
      drawings(md);
      checklists(md);
      chineseLines(md);
      installNotes(md);
      optionNames(md);
      rememberedCode(md);
    },
  },
  vite: {
    ...core,
    plugins: [vueOfThisFolder],
    // The index of the search is one file of 1 MB, and is loaded at the first search.
    build: { chunkSizeWarningLimit: 4000 },
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    zh: { label: '简体中文', lang: 'zh-CN', themeConfig: chinese },
  },
  themeConfig: {
    nav: nav(['Guide', 'Playground', 'API']),
    sidebar: { '/': sidebar('en'), ...referenceSidebars() },
    // Frameworks, algorithms and the API are in English only, so the menu of languages leads to the start page of the other one.
    i18nRouting: false,
    outline: [2, 3],
    notFound: {
      title: 'There is no such page',
      quote: 'The address is wrong, or the page has moved. Search finds it by its words.',
      linkText: 'Home',
    },
    footer: footer({
      license: '% licence',
      changelog: 'Changelog',
      security: 'Report a vulnerability',
    }),
    socialLinks: [{ icon: 'github', link: repository }],
    search: {
      provider: 'local',
      options: {
        locales: { zh: { translations: chineseSearch } },
        miniSearch: { options: { tokenize }, searchOptions: { boostDocument } },
      },
    },
  },
});
