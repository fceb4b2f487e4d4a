import { startBrowser } from '../../tests/support/browser.js';
import { Album } from './album.js';
import { withDemo } from './demo.js';
import { drawPictures } from './docs.js';
import { liveSubjects, withTraffic } from './live.js';
import { siteSubjects, withSite } from './site.js';
import { terminalSubjects } from './terminal.js';

/**
 * @param wanted beginnings of names, such as `site/options`; none: everything
 * @returns whether no page has an error or scrolls sideways
 */
export async function photograph(root: string, wanted: readonly string[]): Promise<boolean> {
  const browser = await startBrowser();
  const album = new Album(browser, root, wanted);
  try {
    if (album.wants('site/')) {
      await withSite(root, (url) => album.take(siteSubjects(root, url)));
    }
    if (album.wants('live/')) {
      await withDemo(root, 'memory', (url) => withTraffic(url, () => album.take(liveSubjects(url))));
    }
    if (album.wants('terminal/')) {
      await album.take(await terminalSubjects(root, (name) => album.chooses(name)));
    }
  } finally {
    await browser.close();
  }
  return album.close();
}

/** Draws the pictures of docs/. */
export async function drawDocs(root: string): Promise<void> {
  const browser = await startBrowser();
  try {
    await withDemo(root, 'memory', (url) => drawPictures(browser, root, url));
  } finally {
    await browser.close();
  }
}
