import type { Section } from './sections.ts';

/** What a translation must not change, of one section. */
export interface Facts {
  readonly level: number;
  /** Fenced blocks without comments, which are in the language of the page. */
  readonly blocks: readonly string[];
  /** Comments that say what a block logs. */
  readonly logs: readonly string[];
  /** `rows × columns` of each table. */
  readonly tables: readonly string[];
  /** Items of lists. */
  readonly items: number;
  /** Targets of links and images, sorted. */
  readonly links: readonly string[];
  /** Texts in backticks, each once, sorted. */
  readonly code: readonly string[];
}

const FENCE = /^ *(`{3,})([^\n]*)\n([\s\S]*?)^ *\1 *$/gm;
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;
const CODE = /(`+)([^`]*?)\1/g;
/** Also definitions such as `[name]: page.md`. */
const LINK = /\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm;

/** @param targetOf the file and heading, or the address, that a link leads to */
export function factsOf({ level, text }: Section, targetOf: (link: string) => string): Facts {
  const blocks = [...text.matchAll(FENCE)].map(([, , info, source]) => ({ info: info!, source: source! }));
  const prose = text.replace(FRONT_MATTER, '').replace(FENCE, '');
  const withoutCode = prose.replace(CODE, '`');
  const code = [...prose.matchAll(CODE)].map(([, , part]) => part!.replace(/\s+/g, ' '));
  return {
    level,
    // The name of a tab, such as `[Memory]`, is in the language of the page.
    blocks: blocks.map(
      ({ info, source }) => `${info.replace(/ \[.*\]$/, '')}\n${withoutComments(info, source)}`,
    ),
    logs: blocks.flatMap(({ source }) => source.match(/console\.log\(.*\); \/\/ .*$/gm) ?? []),
    tables: tablesOf(withoutCode),
    items: withoutCode.match(/^ *(?:[-*]|\d+\.) /gm)?.length ?? 0,
    links: [...prose.matchAll(LINK)].map(([, link, named]) => targetOf((link ?? named)!)).sort(),
    code: [...new Set(code)].sort(),
  };
}

/** How comments begin in a language. Other languages have none. */
const COMMENT: Readonly<Record<string, string>> = {
  java: '//',
  js: '//',
  ts: '//',
  nginx: '#',
  sh: '#',
  yaml: '#',
  sql: '--',
};

/** @param info what follows the marks of the fence, such as `ts legacy`. A comment begins its line or follows a space. */
function withoutComments(info: string, source: string): string {
  const mark = COMMENT[/^\w*/.exec(info)![0]];
  if (mark === undefined) return source;
  return source
    .replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
    .replace(new RegExp(`(?:^|\\s+)${mark} .*$`, 'gm'), '')
    .replace(/\n+/g, '\n');
}

const tablesOf = (text: string): string[] =>
  (text.match(/(?:^\|.*\n?)+/gm) ?? []).map((table) => {
    const rows = table.trim().split('\n');
    return `${rows.length} × ${rows[0]!.split('|').length - 2}`;
  });
