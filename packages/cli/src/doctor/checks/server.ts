import { nodeCheck } from '../check.js';
import type { Info } from '../info.js';

const COMPATIBILITY = 'Use Redis 7.0 or later, or Valkey 8 or later.';

/** Checks the program and its version. */
export const server = nodeCheck({
  about: 'server',
  why: {
    'server-too-old': 'Its scripts cannot read the time before they write: every call fails.',
    'server-old': 'Sluice is not tested with it.',
    'server-untested': 'Sluice is not tested with it; docs/operations.md says what its users report.',
    'server-unsuited':
      'Its scripts return other numbers than those of Redis: expect StoreConfigurationError.',
  },
  look({ info }, report) {
    const { name, version } = programOf(info);
    if (version === undefined) return; // the missing field is reported
    const what = `This is ${name} ${version}`;
    const [major = 0] = version.replace(/^\D+/, '').split('.').map(Number);
    if (name === 'Redis' && major < 5) report.error('server-too-old', what, COMPATIBILITY);
    else if (major < (OLDEST[name] ?? 0)) report.warning('server-old', what, COMPATIBILITY);
    else if (name === 'Dragonfly') report.error('server-unsuited', what, COMPATIBILITY);
    else if (OLDEST[name] === undefined) report.warning('server-untested', what, COMPATIBILITY);
    else report.ok(`${name} ${version}`);
  },
});

/** The oldest supported major version. */
const OLDEST: Readonly<Record<string, number>> = { Redis: 7, Valkey: 8 };

/** Most programs also report a version of Redis that they are compatible with. */
function programOf(info: Info): { name: string; version: string | undefined } {
  const field = (name: string) => info.optional(name);
  if (field('dragonfly_version')) return { name: 'Dragonfly', version: field('dragonfly_version') };
  if (field('valkey_version')) return { name: 'Valkey', version: field('valkey_version') };
  if (field('garnet_version')) return { name: 'Garnet', version: field('garnet_version') };
  if (field('kvrocks_version')) return { name: 'Kvrocks', version: field('kvrocks_version') };
  const isKeyDb = field('mvcc_depth') !== undefined || /keydb-server/.test(field('executable') ?? '');
  return { name: isKeyDb ? 'KeyDB' : 'Redis', version: info.text('redis_version') };
}
