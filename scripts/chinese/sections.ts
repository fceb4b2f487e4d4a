import { createHash } from 'node:crypto';
import { githubAnchor } from '../anchors.ts';

export interface Section {
  /** 1 for `#`; 0 for the text before the first heading. */
  readonly level: number;
  readonly title: string;
  /** Of a heading that is there twice, the second anchor ends with `-1`. */
  readonly anchor: string;
  readonly text: string;
}

/** The text before the first heading, then each heading with its text up to the next heading of any level. */
export function sectionsOf(page: string): Section[] {
  const sections = [{ level: 0, title: '', lines: [] as string[] }];
  let fence: string | undefined;
  for (const line of page.split('\n')) {
    const [, marks] = /^ *(`{3,})/.exec(line) ?? [];
    if (marks !== undefined && (fence ?? marks) === marks) fence = fence === undefined ? marks : undefined;
    const [, level, title] = (fence === undefined && /^(#+) (.+)$/.exec(line)) || [];
    if (level === undefined) sections.at(-1)!.lines.push(line);
    else sections.push({ level: level.length, title: title!, lines: [] });
  }
  const seen = new Map<string, number>();
  return sections.map(({ level, title, lines }) => {
    const anchor = githubAnchor(title);
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return { level, title, anchor: before === 0 ? anchor : `${anchor}-${before}`, text: lines.join('\n') };
  });
}

/** Hashes of the sections of an English page, by anchor. The text before the first heading has the anchor `''`. */
export type Hashes = Readonly<Record<string, string>>;

/** Spaces at the ends of lines do not count. */
export const hashesOf = (page: string): Hashes =>
  Object.fromEntries(
    sectionsOf(page).map(({ title, anchor, text }) => {
      const plain = `${title}\n${text}`.replace(/[ \t]+$/gm, '').trim();
      return [anchor, createHash('sha256').update(plain).digest('hex').slice(0, 12)];
    }),
  );

/** The anchors of the sections that were added, changed or removed after `checked` was recorded, such as `#pictures`. */
export function changedSections(page: string, checked: Hashes = {}): string[] {
  const now = hashesOf(page);
  const anchors = new Set([...Object.keys(now), ...Object.keys(checked)]);
  return [...anchors].filter((anchor) => now[anchor] !== checked[anchor]).map((anchor) => `#${anchor}`);
}
