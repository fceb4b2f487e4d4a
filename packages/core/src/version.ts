/** The version of this package, for other processes: a build has no package.json to read. A test compares the two. */
export const VERSION = '0.1.0';

const OLDEST = 20;

/**
 * Runtimes that are no Node.js, and do not say that they are like one, pass.
 * @throws RangeError naming the version of a Node.js that is too old
 */
export function checkNodeVersion(what: string): void {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  const version = process?.versions?.node;
  if (version !== undefined && Number.parseInt(version, 10) < OLDEST)
    throw new RangeError(`${what} needs Node.js ${OLDEST} or later, not ${version}: install a newer one`);
}
