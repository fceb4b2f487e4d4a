import { LAYOUT } from '@sluice/core/internal';
import type { StoredEntries, StoredEntry } from './table-entries.js';

export interface CarryOptions {
  /** The keyPrefix of the limiters. */
  readonly prefix: string;
  /** Only the entries of one limiter. */
  readonly limiter?: string | undefined;
  readonly overwrites: boolean;
  readonly dryRun: boolean;
  /** Ends it after the present page, or after the present rules. */
  readonly signal: AbortSignal;
  /** Waits for an answer of the source: it may reject when that takes too long. Default: for as long as it takes. */
  ask?<T>(answer: Promise<T>): Promise<T>;
}

/** Where the entries go. */
export type CarryTarget = Pick<StoredEntries, 'put'>;

/** Numbers of entries. */
export interface Carried {
  /** That the source has. */
  read: number;
  /** Their bytes, with their keys. */
  bytes: number;
  /** That were written; the target had the others. */
  written: number;
}

/**
 * Carries what counts from one store to another, a page at a time: the entries of limiters, shared rates, rules and their texts. The notice
 * board stays, because it is of the processes of its store.
 * @param progress called after each page
 * @throws all errors of the source and of the target
 */
export async function carry(
  from: Pick<StoredEntries, 'pages'>,
  to: CarryTarget,
  options: CarryOptions,
  progress: (carried: Readonly<Carried>) => void,
): Promise<Carried> {
  const { prefix, limiter, overwrites, dryRun, signal, ask = (answer) => answer } = options;
  const carried = { read: 0, bytes: 0, written: 0 };
  const put = async (entries: readonly StoredEntry[], all = overwrites): Promise<void> => {
    if (entries.length === 0) return;
    carried.written += await to.put(entries, { overwrites: all, dryRun });
  };
  const documents = new Documents();
  const start = `${prefix}:${LAYOUT}:`;
  const pages = from.pages(start)[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const { value, done } = await ask(pages.next());
    if (done) break;
    const page = value.filter(({ key }) => isCarried(key.slice(start.length), limiter));
    carried.read += page.length;
    carried.bytes += page.reduce((sum, { key, entry }) => sum + key.length + entry.length, 0);
    await put(page.filter((one) => !documents.takes(one, one.key.slice(start.length))));
    progress(carried);
  }
  for (const { list, texts } of documents.all) {
    if (signal.aborted) break;
    const isNew = await to.put([list], { overwrites: false, dryRun: true });
    if (isNew === 0 && !overwrites) continue;
    await put(texts, true);
    await put([list], true);
  }
  return carried;
}

/** @param key without the prefix and the layout: `fw:api:{ann}`, `fw:api|perDay:{ann}`, `shared:{all}:rate`, `rules:{rules}` */
function isCarried(key: string, limiter: string | undefined): boolean {
  const kind = key.slice(0, key.indexOf(':'));
  if (kind === 'fleet') return false;
  if (limiter === undefined) return true;
  if (kind === 'rules') return false;
  const [, shared, own] = /^[^:]*:(?:\{([^}]*)\}|(.*?)(?:\|.*?)?:\{)/.exec(key) ?? [];
  return (shared ?? own) === limiter;
}

interface Document {
  readonly list: StoredEntry;
  readonly texts: readonly StoredEntry[];
}

/**
 * Rules, which travel last and whole: the texts, and then the list of versions, which says what texts there are. Where the target has a list,
 * its texts stay as well. There are few.
 */
class Documents {
  readonly #lists: StoredEntry[] = [];
  readonly #texts: StoredEntry[] = [];

  /** @param key without the prefix and the layout */
  takes(entry: StoredEntry, key: string): boolean {
    if (!key.startsWith('rules:')) return false;
    (key.endsWith('}') ? this.#lists : this.#texts).push(entry);
    return true;
  }

  get all(): Document[] {
    return this.#lists.map((list) => ({
      list,
      texts: this.#texts.filter(({ key }) => key.startsWith(`${list.key}:`)),
    }));
  }
}
