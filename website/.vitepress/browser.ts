import { fileURLToPath } from 'node:url';
import type { UserConfig } from 'vitepress';

/** How Vite bundles the sources of `@sluice/core` for the playground. */
export const core: NonNullable<UserConfig['vite']> = {
  resolve: {
    conditions: ['@sluice/source'],
    alias: [
      // Also for the pages that Node.js renders.
      {
        find: '#platform',
        replacement: fileURLToPath(new URL('../playground/platform.ts', import.meta.url)),
      },
    ],
  },
};
