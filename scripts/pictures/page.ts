import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSection } from '../sections.js';
import { draw } from './draw.js';
import { admitted } from './offer.js';
import { tables } from './scenarios.js';
import { show } from './show.js';
import { subjects } from './subjects.js';

export { section, withSection } from '../sections.js';

/** The page, from the root of the repository. */
export const PAGE = 'docs/choosing.md';

/** Every generated file as it ought to be, by its path from the root: the pictures, and the page with new tables. */
export async function generated(root: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const subject of subjects) {
    files.set(`docs/pictures/${subject.name}.svg`, draw(subject, await admitted(subject)));
  }
  let page = readFileSync(join(root, PAGE), 'utf8');
  for (const [name, text] of Object.entries(await tables())) page = withSection(page, name, text);
  return files.set(PAGE, page);
}

/** @throws Error naming the algorithms there are */
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
