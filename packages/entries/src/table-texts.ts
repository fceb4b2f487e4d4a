import {
  clearTimeout,
  type SharedText,
  type SharedTexts,
  setTimeout,
  type TextPush,
  unref,
} from '@sluice/core/internal';
import { type KeptEntry, NEVER_EXPIRES, textAt } from './entry-table.js';
import type { ChangeEntries } from './table-in-use.js';

/** ms between two looks at a list that is followed. */
const LOOK = 1_000;

/** Texts that are entries of a table. */
export class TableTexts implements SharedTexts {
  readonly #change: ChangeEntries;

  constructor(change: ChangeEntries) {
    this.#change = change;
  }

  async read(key: string, most: number): Promise<SharedText> {
    let text = '';
    await this.#change([key], (open) => {
      text = textAt(open, key);
      return [];
    });
    const bytes = Buffer.byteLength(text);
    return bytes > most ? { text: '', problem: `it has ${bytes} bytes` } : { text };
  }

  async kept(keys: readonly string[]): Promise<readonly boolean[]> {
    let kept: readonly boolean[] = [];
    await this.#change(keys, (open) => {
      kept = keys.map((key) => textAt(open, key) !== '');
      return [];
    });
    return kept;
  }

  async push({ list, read, line, rest, key, text, dropped }: TextPush): Promise<string> {
    let pushed = '';
    await this.#change([list, key, ...dropped], (open) => {
      pushed = '';
      if (textAt(open, list) !== read) return [];
      pushed = `${Math.floor(open.now / 1000)} ${line}${rest}`;
      const gone = dropped.filter((one) => open.entries.has(one));
      return [
        keptText(key, text),
        keptText(list, pushed),
        ...gone.map((one) => ({ key: one, entry: undefined, expires: 0 })),
      ];
    });
    return pushed;
  }

  async follow(list: string, changed: () => void): Promise<() => void> {
    let before = (await this.read(list, Number.POSITIVE_INFINITY)).text;
    const look = async () => {
      try {
        const { text } = await this.read(list, Number.POSITIVE_INFINITY);
        if (text !== before) changed();
        before = text;
      } catch {} // decisions report outages, and the next look finds what has changed meanwhile
      schedule();
    };
    let timer: NodeJS.Timeout;
    let ended = false;
    const schedule = () => {
      if (!ended) timer = unref(setTimeout(() => void look(), LOOK));
    };
    schedule();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }
}

const keptText = (key: string, text: string): KeptEntry => ({
  key,
  entry: Buffer.from(text),
  expires: NEVER_EXPIRES,
});
