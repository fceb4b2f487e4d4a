import type { Locator, Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';

/** Opens the search. A click before the page's scripts have run does nothing. @returns its field */
export async function searchOf(page: Page): Promise<Locator> {
  const input = page.locator('#localsearch-input');
  await eventually(async () => {
    if (await input.isVisible()) return true;
    await page.locator('#local-search button').first().click();
    return false;
  }, 500);
  return input;
}
