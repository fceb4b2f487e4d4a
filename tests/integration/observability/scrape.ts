/** The labels of each metric in a text for Prometheus, and their values. */
export type Scrape = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** @throws Error for a line that Prometheus would refuse */
export function readScrape(text: string): Scrape {
  const scrape = new Map<string, Map<string, Set<string>>>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = ''] = LINE.exec(line) ?? [];
    if (name === undefined) throw new Error(`No line of a scrape: ${line}`);
    const known = scrape.get(name) ?? new Map<string, Set<string>>();
    scrape.set(name, known);
    for (const [, label, value] of labels.matchAll(LABEL)) {
      known.set(label!, (known.get(label!) ?? new Set()).add(value!));
    }
  }
  return scrape;
}

/** Every process has these: Prometheus adds them. */
export const ADDED = ['job', 'instance'];
