import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { frameworks } from '../../scripts/packages.mjs';
import { type Page, pageOf, pagesIn, root } from './pages';

/** The sections, in order. A page in a folder of docs/ belongs to the section with that folder. */
const SECTIONS = [
  { name: 'start', en: 'Getting started', zh: '开始使用' },
  { name: 'frameworks', en: 'Frameworks', zh: '框架' },
  { name: 'recipes', en: 'Recipes', zh: '实例' },
  { name: 'migration', en: 'Coming from elsewhere', zh: '从其他库迁移' },
  { name: 'operations', en: 'Operations', zh: '运维' },
  { name: 'reference', en: 'Reference', zh: '参考' },
  { name: 'algorithms', en: 'Algorithms', zh: '算法' },
] as const;

/** The sections of pages that are directly in docs/ and have no `section` in their front matter, in the order of the sidebar. */
const TOP: Readonly<Record<string, string>> = {
  README: 'start',
  'getting-started': 'start',
  choosing: 'start',
  playground: 'start',
  migration: 'migration',
  operations: 'operations',
  reliability: 'operations',
  cluster: 'operations',
  security: 'operations',
  warnings: 'reference',
  clocks: 'operations',
  compatibility: 'operations',
};

/** Pages outside of docs/, the last ones of their sections. */
const OUTSIDE: Readonly<Record<string, readonly string[]>> = {
  start: ['examples/README.md'],
  operations: ['SECURITY.md'],
  reference: ['bench/README.md', 'CHANGELOG.md'],
};

type Item = DefaultTheme.SidebarItem;

const item = ({ path, title }: Page): Item => ({ text: title, link: `/${path}` });

/** @param locale the folder of the language in docs/; English is in docs/ itself */
export function sidebar(locale: 'en' | 'zh'): Item[] {
  const folder = locale === 'en' ? 'docs' : `docs/${locale}`;
  const places = Object.keys(TOP);
  const nameOf = ({ path }: Page) => path.split('/').at(-1)!;
  const place = (page: Page) => (places.indexOf(nameOf(page)) + places.length + 1) % (places.length + 1);
  const top = pagesIn(folder)
    .filter((page) => nameOf(page) !== 'index')
    .sort((a, b) => a.order - b.order || place(a) - place(b));
  return SECTIONS.flatMap((section) => {
    const pages = [
      ...top.filter((page) => (page.section ?? TOP[nameOf(page)] ?? 'reference') === section.name),
      ...pagesIn(`${folder}/${section.name}`),
    ];
    if (section.name === 'algorithms' && locale === 'en') pages.push(...algorithms());
    if (section.name === 'frameworks' && locale === 'en') pages.push(...packages());
    if (locale === 'en') pages.push(...(OUTSIDE[section.name] ?? []).map(pageOf));
    const items = pages.map(item);
    if (section.name === 'reference' && locale === 'en') items.push({ text: 'API', link: '/reference/' });
    if (items.length === 0) return [];
    return [{ text: section[locale], collapsed: false, items }];
  });
}

/** Does a sidebar have the page? The API reference has its own. @param path of the page in the site */
export function isListed(path: string): boolean {
  if (path.startsWith('reference/')) return true;
  const links = sidebar(path.startsWith('zh/') ? 'zh' : 'en').flatMap(({ items = [] }) => items);
  return links.some(({ link }) => link === `/${path}`);
}

const ALGORITHMS = 'packages/core/src/algorithms';

const algorithms = (): Page[] => folders(ALGORITHMS).flatMap((name) => pagesIn(`${ALGORITHMS}/${name}`));

/** Packages whose READMEs are pages too, after the frameworks. The other packages have pages in docs/. */
const TOOLS = ['decorators', 'otel', 'dashboard', 'cli', 'core'];

const packages = (): Page[] => [...frameworks(), ...TOOLS].flatMap((name) => pagesIn(`packages/${name}`));

const REFERENCE = 'website/reference';

/** The sidebars of the API reference: all packages, and the tasks of the one whose pages are read. A small package is one page. */
export function referenceSidebars(): Record<string, Item[]> {
  const divided = folders(REFERENCE);
  const whole = pagesIn(REFERENCE).filter(({ path }) => path !== 'reference/index');
  const all = [...divided.map((name) => `${name}/`), ...whole.map(({ path }) => path.split('/').at(-1)!)];
  const list = (open?: string): Item[] =>
    all
      .sort((a, b) => Number(b === 'core/') - Number(a === 'core/') || a.localeCompare(b))
      .map((name) => ({
        text: `@sluice/${name.replace('/', '')}`,
        link: `/reference/${name}`,
        ...(name === `${open}/` ? { items: tasks(name) } : {}),
      }));
  const each = divided.map((name) => [`/reference/${name}/`, list(name)] as const);
  return { '/reference/': list(), ...Object.fromEntries(each) };
}

const tasks = (name: string): Item[] =>
  pagesIn(`${REFERENCE}/${name.replace('/', '')}`)
    .filter(({ path }) => !path.endsWith('/index'))
    .map(item);

const folders = (path: string): string[] =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
