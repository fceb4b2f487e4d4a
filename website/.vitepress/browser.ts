import { fileURLToPath } from 'node:url';
import type { UserConfig } from 'vitepress';

/** How Vite bundles the sources of `@sluice/core` for the playground. */
export const core: NonNullable<UserConfig['vite']> = {
  resolve: {
    conditions: ['@sluice/source'],
    alias: [
      // What the memory store and the limiters need of Node.js. The Redis store is not used, so its client is dropped with it.
      {
        find: /^(node:\w+|ioredis)$/,
        replacement: fileURLToPath(new URL('../playground/node.ts', import.meta.url)),
      },
    ],
  },
};
