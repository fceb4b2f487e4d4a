import { redisScripts } from '@sluice/core/internal';
import { count } from '../../words.js';
import { nodeCheck } from '../check.js';

const MANY = 500;

/** Checks that Sluice's scripts are in the server's cache. */
export const scripts = nodeCheck({
  about: 'scripts',
  why: {
    'script-not-cached':
      'The next call sends the whole script, once. After a restart, SCRIPT FLUSH or an update that is normal.',
    'scripts-evicted': 'If it evicts ours, calls send the whole script again and again.',
    'scripts-many': 'Another program sends new scripts all the time: they take memory, and may evict ours.',
  },
  of: 'primaries',
  async look(node, report) {
    const { info } = node;
    const reply = await node.ask(
      'which scripts are cached',
      'SCRIPT',
      'EXISTS',
      ...redisScripts.map(({ sha1 }) => sha1),
    );
    if (reply !== undefined) {
      const cached = redisScripts.filter((_, i) => (reply as number[])[i] === 1).map(({ name }) => name);
      // Each call of a limiter needs the first script. The others are sent on first use.
      if (cached.includes(redisScripts[0]!.name)) report.ok(`cached: ${cached.join(', ')}`);
      else
        report.note(
          'script-not-cached',
          'The script that decides, in the form of this version, is not cached',
          'await store.connect() at the start of a process loads it. If this comes back, find what runs SCRIPT FLUSH.',
        );
    }
    const evicted = info.optionalNumber('evicted_scripts') ?? 0;
    const number = info.optionalNumber('number_of_cached_scripts') ?? 0;
    const mend = 'Let the other program pass values as arguments (ARGV), not in the text of its scripts.';
    if (evicted > 0)
      report.warning('scripts-evicted', `The server has evicted ${count(evicted, 'script')}`, mend);
    if (number >= MANY) report.warning('scripts-many', `The server has ${number} scripts in its cache`, mend);
  },
});
