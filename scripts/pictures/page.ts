import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSection } from '../sections.js';
import { draw } from './draw.js';
import { drawFleets, fleetTable } from './draw-fleets.js';
import { fleets } from './fleet.js';
import { admitted } from './offer.js';
import { tables } from './scenarios.js';
import { show } from './show.js';
import { subjects } from './subjects.js';
import { WORDS } from './words.js';

export { section, withSection } from '../sections.js';

/** The pages, from the root of the repository. */
export const PAGE = 'docs/choosing.md';
export const FLEETS_PAGE = 'docs/prefetch.md';

/** The folders of the pictures with English and with Chinese words. */
const PICTURES = { en: 'docs/pictures', zh: 'docs/zh/pictures' } as const;
const LANGUAGES = ['en', 'zh'] as const;

/** The new text of every generated file, by its path from the root: the pictures, and the pages with new tables. */
export async function generated(root: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const subject of subjects) {
    const went = await admitted(subject);
    for (const language of LANGUAGES) {
      files.set(`${PICTURES[language]}/${subject.name}.svg`, draw(subject, went, WORDS[language]));
    }
  }
  let page = readFileSync(join(root, PAGE), 'utf8');
  for (const [name, text] of Object.entries(await tables())) page = withSection(page, name, text);
  files.set(PAGE, page);

  const all = await fleets();
  for (const language of LANGUAGES) {
    files.set(`${PICTURES[language]}/prefetch.svg`, drawFleets(all, WORDS[language]));
  }
  const about = readFileSync(join(root, FLEETS_PAGE), 'utf8');
  return files.set(FLEETS_PAGE, withSection(about, 'fleets', fleetTable(all)));
}

/** @throws Error that lists the algorithms */
export async function shown(name: string): Promise<string> {
  const chosen = subjects.filter((subject) => name === 'all' || subject.name === name);
  if (chosen.length === 0) {
    throw new Error(
      `--show takes all or one of ${subjects.map((subject) => subject.name).join(', ')}, not '${name}'`,
    );
  }
  const pictures = await Promise.all(chosen.map(async (subject) => show(subject, await admitted(subject))));
  return pictures.join('\n\n');
}
