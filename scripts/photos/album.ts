import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Page, PageScreenshotOptions } from 'playwright-core';

/** A page, dialog or screen, and how to open it. */
export interface Subject {
  /** The name of its file, such as `site/options`. */
  readonly name: string;
  /** Opens it. @param width of the window, px */
  open(page: Page, width: number): Promise<void>;
  /** The widths at which it is there; all, unless given. */
  readonly widths?: readonly number[];
  /** Whether only the window is photographed, instead of the whole page. */
  readonly window?: boolean;
}

const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];
const THEMES = ['light', 'dark'] as const;
/** Height of a photograph, px. Longer pages take several. */
const MOST_HEIGHT = 4000;

/** Photographs, and what is wrong with what they show. */
export class Album {
  readonly #folder: string;
  readonly #photos: string[] = [];
  readonly #complaints: string[] = [];

  constructor(
    private readonly browser: Browser,
    root: string,
    private readonly wanted: readonly string[],
  ) {
    this.#folder = join(root, 'photos');
  }

  /** Whether any subject with this beginning may be wanted. */
  wants(beginning: string): boolean {
    return this.wanted.length === 0 || this.wanted.some((one) => `${one}/`.startsWith(beginning));
  }

  /** Is the subject of this name wanted? */
  chooses(name: string): boolean {
    return this.wanted.length === 0 || this.wanted.some((one) => name.startsWith(one));
  }

  async take(subjects: readonly Subject[]): Promise<void> {
    const chosen = subjects.filter(({ name }) => this.chooses(name));
    // All photographs of a subject together: a run that is stopped leaves whole subjects.
    for (const subject of chosen) {
      for (const viewport of SIZES) {
        if (subject.widths !== undefined && !subject.widths.includes(viewport.width)) continue;
        const context = await this.browser.newContext({ viewport, reducedMotion: 'reduce' });
        const page = await context.newPage();
        const complain = (what: string) =>
          this.#complaints.push(`${subject.name} at ${viewport.width}: ${what}`);
        page.on('pageerror', (error) => complain(String(error)));
        try {
          await subject.open(page, viewport.width);
          const width = await page.evaluate<number>('document.documentElement.scrollWidth');
          if (width > viewport.width) complain(`scrolls sideways: ${width}`);
          for (const theme of THEMES) await this.#shoot(page, subject, viewport.width, theme);
        } catch (error) {
          complain(String(error).split('\n')[0]!);
        }
        await context.close();
      }
    }
  }

  async #shoot(page: Page, subject: Subject, width: number, colorScheme: 'light' | 'dark'): Promise<void> {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // A click may have scrolled, and what sticks to the window would lie over the middle of the page.
    await page.evaluate('scrollTo(0, 0)');
    if (subject.window === true) return this.#save(page, `${subject.name}-${width}-${colorScheme}`);
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    const parts = Math.ceil(height / MOST_HEIGHT);
    for (let part = 0; part < parts; part += 1) {
      const y = part * MOST_HEIGHT;
      const number = part === 0 ? '' : `-${part + 1}`;
      await this.#save(page, `${subject.name}-${width}-${colorScheme}${number}`, {
        fullPage: true,
        clip: { x: 0, y, width, height: Math.min(MOST_HEIGHT, height - y) },
      });
    }
  }

  async #save(page: Page, name: string, options: PageScreenshotOptions = {}): Promise<void> {
    const file = `${name}.png`;
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    await page.screenshot({ path, ...options });
    this.#photos.push(file);
  }

  /** Writes a page of all photographs, and says what is wrong. @returns whether nothing is */
  close(): boolean {
    const shown = this.#photos.map(
      (file) => `<a href="${file}"><img src="${file}" alt="${file}" loading="lazy">${file}</a>`,
    );
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(
      join(this.#folder, 'index.html'),
      `<!doctype html><title>Photos</title><style>body{columns:4;font:12px sans-serif}a{display:block;margin:0 0 12px;break-inside:avoid}img{width:100%;border:1px solid #888}</style>\n${shown.join('\n')}\n`,
    );
    console.log(`${this.#photos.length} photos: ${join(this.#folder, 'index.html')}`);
    for (const complaint of this.#complaints) console.error(complaint);
    return this.#complaints.length === 0;
  }
}
