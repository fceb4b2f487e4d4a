import { hostname } from '#platform';

/** The name of this machine in what a process publishes: readers refuse other characters. */
export const publishedHost = (): string =>
  hostname()
    .replace(/[^!-~]/g, '?')
    .slice(0, 255);
