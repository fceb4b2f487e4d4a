/** The version of this package, for other processes: a build has no package.json to read. A test compares the two. */
export const VERSION = '0.1.0';
