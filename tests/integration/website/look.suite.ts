import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { heroRun } from '../../../website/home/hero.js';
import { eventually } from '../../support/eventually.js';
import { searchOf } from './search.js';

const root = resolve(__dirname, '../../..');

export interface Site {
  /** The folder of the built site. */
  folder(): string;
  /** A page on which any error fails the test. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
}

/** One page of each kind. */
const KINDS = [
  '/',
  '/getting-started.html',
  '/comparison.html',
  '/algorithms/token-bucket.html',
  '/playground.html',
  '/reference/core/',
  '/reference/core/policies.html',
];

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };

/** How the site looks and moves, to everybody. */
export function looks({ folder, open }: Site): void {
  const html = (file: string) => readFileSync(join(folder(), file), 'utf8');

  describe('axe', () => {
    const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

    // The theme's sidebar and search: a button in a button, names that differ from their texts.
    const theirs = ['nested-interactive', 'label-content-name-mismatch'];
    const disabled = Object.fromEntries(theirs.map((rule) => [rule, { enabled: false }]));

    /** Serious problems of the page as it is now. The dark theme differs in its colours only. */
    async function problems(page: Page): Promise<string[]> {
      const found: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const options = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : { rules: disabled };
        found.push(
          ...(await page.evaluate<string[]>(
            `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations
              .filter(({ impact }) => /serious|critical/.test(impact))
              .flatMap(({ id, nodes }) => nodes.map(({ html }) => '${colorScheme} ' + location.pathname + ' ' + id + ' ' + html.slice(0, 200))))`,
          )),
        );
      }
      return found;
    }

    const opened = async (path: string, viewport = DESKTOP) => {
      const page = await open(path, { reducedMotion: 'reduce', viewport });
      await page.evaluate(axe);
      return page;
    };

    test.each(KINDS)('finds no serious problem of %s in either theme', async (path) => {
      expect(await problems(await opened(path))).toEqual([]);
    });

    test('finds no serious problem of the search and of the menu in either theme', async () => {
      const page = await opened('/getting-started.html');
      await (await searchOf(page)).fill('redis');
      await page.locator('.VPLocalSearchBox .result').first().waitFor();
      const phone = await opened('/', PHONE);
      await phone.locator('.VPNavBarHamburger').click();
      await phone.locator('.VPNavScreen').waitFor();
      expect([...(await problems(page)), ...(await problems(phone))]).toEqual([]);
    });
  });

  describe('widths', () => {
    test.each([PHONE, DESKTOP])(
      'at $width pixels no page scrolls sideways; wide tables do',
      async (viewport) => {
        const page = await open('/', { viewport });
        const wide: string[] = [];
        let tables = 0;
        for (const path of [...KINDS, '/headers.html', '/warnings.html']) {
          await page.goto(new URL(path, page.url()).href);
          // The drawing of the playground is as wide as its column once scripts have run.
          const fits = 'document.documentElement.scrollWidth <= innerWidth';
          await page.waitForFunction(fits, undefined, { timeout: 10_000 }).catch(() => wide.push(path));
          tables += await page
            .locator('.vp-doc table')
            .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
        }
        expect(wide).toEqual([]);
        if (viewport === PHONE) expect(tables).toBeGreaterThan(3);
      },
    );

    test.each(['/choosing.html', '/zh/prefetch.html'])(
      'the plots of %s keep their size on a phone, and scroll',
      async (path) => {
        const page = await open(path, { viewport: PHONE });
        await page.locator('.vp-doc p > img').first().waitFor();
        const shown = await page.evaluate<[boolean, string][]>(
          `[...document.querySelectorAll('.vp-doc p > img')].map((one) =>
            [one.getBoundingClientRect().width === one.naturalWidth, getComputedStyle(one.parentElement).overflowX])`,
        );
        expect(shown.length).toBeGreaterThan(0);
        expect(shown).toEqual(shown.map(() => [true, 'auto']));
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      },
    );

    test('the edge of a table or of code that scrolls fades until its end is shown', async () => {
      const page = await open('/comparison.html', { viewport: PHONE });
      const mask = `getComputedStyle(document.querySelector('.vp-doc table')).maskImage`;
      expect(await page.evaluate(mask)).toMatch(/^linear-gradient/);
      await page.evaluate(`document.querySelector('.vp-doc table').scrollLeft = 10_000`);
      await page.waitForFunction(`${mask} === 'none'`);
      await page.goto(new URL('/getting-started.html', page.url()).href);
      const scrolls = await page.evaluate<[boolean, boolean][]>(
        `[...document.querySelectorAll('.vp-doc [class*="language-"] pre')].map((one) =>
          [one.scrollWidth > one.clientWidth, getComputedStyle(one).maskImage !== 'none'])`,
      );
      expect(scrolls.filter(([wide, fades]) => wide !== fades)).toEqual([]);
      expect(scrolls.filter(([wide]) => wide).length).toBeGreaterThan(3);
    });

    test.each([PHONE, DESKTOP])('at $width pixels no table of the reference is cut off', async (viewport) => {
      const page = await open('/', { viewport });
      const cut: string[] = [];
      let tables = 0;
      for (const name of ['fastify', 'express', 'koa', 'nestjs', 'http/limits', 'core/stores']) {
        await page.goto(new URL(`/reference/${name}.html`, page.url()).href);
        const widths = await page
          .locator('.vp-doc table')
          .evaluateAll((all) => all.map((one) => one.scrollWidth - one.clientWidth));
        if (widths.some((hidden) => hidden > 0)) cut.push(name);
        tables += widths.length;
      }
      expect(cut).toEqual([]);
      expect(tables).toBeGreaterThan(100);
    });

    test('a code as a heading is not broken on a phone', async () => {
      const page = await open('/warnings.html', { viewport: PHONE });
      const heights = await page
        .locator('.vp-doc h2')
        .evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().height)));
      expect(heights.length).toBeGreaterThan(20);
      expect(new Set(heights).size).toBe(1);
    });

    test.each([390, 700, 900, 1280, 1920])(
      'at %d pixels the cards of the home page fill their rows',
      async (width) => {
        const page = await open('/', { viewport: { width, height: 800 } });
        const tops = await page
          .locator('.VPFeatures .item')
          .evaluateAll((cards) => cards.map((card) => Math.round(card.getBoundingClientRect().top)));
        const rows = [...new Set(tops)].map((top) => tops.filter((one) => one === top).length);
        expect(tops.length).toBeGreaterThan(2);
        expect(new Set(rows).size).toBe(1);
      },
    );
  });

  describe('the running limit', () => {
    const picture = (page: Page) => page.locator('.running-limit svg');
    const button = (page: Page, name: string) => page.locator('.running-limit').getByRole('button', { name });
    const moves = async (page: Page) => {
      await page.locator('.running-limit circle').first().waitFor();
      const before = await picture(page).innerHTML();
      for (let i = 0; i < 20; i += 1) {
        await page.waitForTimeout(50);
        if ((await picture(page).innerHTML()) !== before) return true;
      }
      return false;
    };

    test('moves, and a button stops it', async () => {
      const page = await open('/', { reducedMotion: 'no-preference' });
      await eventually(() => moves(page));
      await button(page, 'Pause').click();
      await button(page, 'Play').waitFor();
      expect(await moves(page)).toBe(false);
    });

    test('rests while nobody sees it', async () => {
      const page = await open('/', { reducedMotion: 'no-preference', viewport: PHONE });
      await page.locator('.running-limit').scrollIntoViewIfNeeded();
      await button(page, 'Pause').waitFor();
      await page.locator('.VPFooter').scrollIntoViewIfNeeded();
      await button(page, 'Play').waitFor();
      expect(await moves(page)).toBe(false);
    });

    test('is a still picture for visitors who prefer reduced motion, until they press Play', async () => {
      const page = await open('/', { reducedMotion: 'reduce' });
      expect(await moves(page)).toBe(false);
      for (const shown of ['circle.falling', 'circle.passed', 'g.denied']) {
        expect(await page.locator(`.running-limit ${shown}`).count()).toBeGreaterThan(0);
      }
      await button(page, 'Play').click();
      await eventually(() => moves(page));
    });

    test('has its place before scripts run', async () => {
      const shown = async (javaScriptEnabled: boolean) => {
        const page = await open('/', { javaScriptEnabled, reducedMotion: 'reduce', viewport: DESKTOP });
        if (javaScriptEnabled) await page.locator('.running-limit circle').first().waitFor();
        return page;
      };
      const placesOn = (page: Page) =>
        Promise.all(
          ['.running-limit', '.running-limit svg', '.home-code', '.VPFeatures'].map((one) =>
            page.locator(one).first().boundingBox(),
          ),
        );
      const [running, still] = [await shown(true), await shown(false)];
      // A font that arrives late moves texts on either page.
      await eventually(async () => isDeepStrictEqual(await placesOn(running), await placesOn(still)));
    });

    test('has a name, and leads to the same requests in the playground', async () => {
      const { requests } = await heroRun();
      const passed = requests.filter(({ outcome }) => outcome === 'passed').length;
      const page = await open('/', { reducedMotion: 'reduce' });
      expect(await picture(page).getAttribute('aria-label')).toMatch(/requests fall .* 429/i);
      await page.getByRole('link', { name: 'Try other numbers' }).click();
      await page
        .locator('.playground .counts')
        .filter({ hasText: `● ${passed} passed✕ ${requests.length - passed} denied` })
        .waitFor();
    });
  });

  test('each tab of the home page shows its store', async () => {
    const page = await open('/');
    for (const [tab, store] of [
      ['File', 'sqliteStore('],
      ['Postgres', 'postgresStore('],
      ['Redis', 'redisStore('],
      ['Memory', 'memoryStore('],
    ]) {
      await page.locator('.vp-code-group .tabs label').filter({ hasText: tab! }).click();
      const shown = page.locator('.vp-code-group .blocks > .active');
      await shown.filter({ hasText: store! }).waitFor();
      expect((await shown.locator('pre code').textContent())?.trimEnd().split('\n')).toHaveLength(8);
    }
  });

  test.each(['/', '/zh/', '/getting-started.html', '/404.html'])(
    'the foot of %s has version, licence and changelog',
    async (path) => {
      const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'));
      const page = await open(path, { viewport: DESKTOP });
      const footer = page.locator('.VPFooter');
      await footer.getByText(`Sluice ${version}`).waitFor();
      const links = await footer
        .locator('a')
        .evaluateAll((all) => all.map((one) => one.getAttribute('href')));
      expect(links).toEqual([
        expect.stringMatching(/\/blob\/main\/LICENSE$/),
        '/changelog.html',
        '/reporting-a-vulnerability.html',
      ]);
    },
  );

  test('the mark is the icon, and the head of each page shows it', () => {
    const mark = readFileSync(join(root, 'docs/pictures/mark.svg'), 'utf8');
    const [, path] = / d="([^"]+)"/.exec(mark)!;
    for (const file of ['index.html', 'getting-started.html', 'reference/core/index.html']) {
      expect(html(file)).toContain(`href="data:image/svg+xml,${encodeURIComponent(mark)}"`);
      expect(html(file)).toContain(path);
    }
  });
}
