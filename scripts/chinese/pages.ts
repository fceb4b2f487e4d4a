import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { type Hashes, sectionsOf } from './sections.ts';

const CHINESE = 'docs/zh';

/** For each Chinese page, the English sections that it was checked against. */
export const RECORD = `${CHINESE}/checked.json`;

/** Chinese pages of English pages outside of docs/. They have links and sections of their own, so only changes are looked for. */
export const RETOLD: Readonly<Record<string, string>> = {
  'README.md': 'README.md',
  'decorators.md': 'packages/decorators/README.md',
  'hono.md': 'packages/hono/README.md',
};

const markdownIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));

/** The English pages that need a Chinese one, relative to docs/. */
export const guide = (root: string): string[] =>
  markdownIn(join(root, 'docs')).filter((file) => !/^(?:decisions|zh)\//.test(file));

/** The Chinese pages, relative to docs/zh. */
export const chinesePages = (root: string): string[] => markdownIn(join(root, CHINESE));

/** The files of a Chinese page and of its English page. */
export const filesOf = (page: string): { chinese: string; english: string } => ({
  chinese: `${CHINESE}/${page}`,
  english: RETOLD[page] ?? `docs/${page}`,
});

export const readRecord = (root: string): Readonly<Record<string, Hashes>> =>
  JSON.parse(readFileSync(join(root, RECORD), 'utf8'));

/** Is a file a Chinese page with the structure and the code of an English page? */
export const isTranslation = (file: string): boolean =>
  file.startsWith(`${CHINESE}/`) && !(file.slice(CHINESE.length + 1) in RETOLD);

/** @returns the file of the repository and its heading that a link leads to, or an address as it is */
export function targetOf(file: string, link: string): string {
  if (/^(?:[a-z]+:|\/)/.test(link)) return link;
  const [path, anchor] = link.split('#') as [string, string?];
  const target = path === '' ? file : join(dirname(file), path);
  return anchor === undefined ? target : `${target}#${anchor}`;
}

/** @returns the same place in Chinese, if there is one; otherwise `target` itself */
export function inChinese(root: string, target: string): string {
  const [file, anchor] = target.split('#') as [string, string?];
  const page = pageOf(file);
  if (page === undefined) return target;
  const chinese = `${CHINESE}/${page}`;
  if (!existsSync(join(root, chinese))) return target;
  if (anchor === undefined) return chinese;
  if (page in RETOLD) return target;
  const at = anchorsOf(root, file).indexOf(anchor);
  return `${chinese}#${anchorsOf(root, chinese)[at]}`;
}

const pageOf = (file: string): string | undefined =>
  Object.keys(RETOLD).find((page) => RETOLD[page] === file) ??
  /^docs\/(?!zh\/)(.+\.(?:md|svg))$/.exec(file)?.[1];

const anchorsOf = (root: string, file: string): string[] =>
  sectionsOf(readFileSync(join(root, file), 'utf8')).map(({ anchor }) => anchor);
