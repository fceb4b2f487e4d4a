/**
 * Which of our packages are on npm: `'all'`, or their names. After a change run `npm run scripts`: it rewrites the pages that say so. The
 * site reads it when it is built.
 * @type {'all' | readonly string[]}
 */
export const PUBLISHED = [];
