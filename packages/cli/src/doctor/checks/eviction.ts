import { count } from '../../words.js';
import { nodeCheck } from '../check.js';

const MEND =
  'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf. Give limits their own Redis.';

/** Does the server delete keys to make room? */
export const eviction = nodeCheck({
  about: 'eviction',
  why: {
    'eviction-policy':
      'When memory is full, a key is deleted: its limit starts again each time, and its block is gone. There is no bound.',
    'eviction-policy-unbounded':
      'It has no effect while maxmemory is 0, and deletes limits once maxmemory is set.',
    'keys-evicted': 'If one was a limit, it has started again. A client that makes many keys can cause this.',
  },
  look({ info }, report) {
    const policy = info.text('maxmemory_policy');
    const maxmemory = info.number('maxmemory');
    const evicted = info.number('evicted_keys');
    const evicts = policy !== undefined && policy !== 'noeviction';
    if (evicted !== undefined && evicted > 0) {
      const what = `The server has evicted ${count(evicted, 'key')} since its start`;
      if (evicts) report.error('keys-evicted', what, MEND);
      else
        report.note(
          'keys-evicted',
          `${what}; it does so no more`,
          'CONFIG RESETSTAT starts the count again.',
        );
    }
    if (evicts && maxmemory === 0)
      report.note('eviction-policy-unbounded', `maxmemory-policy is ${policy}, and maxmemory is 0`, MEND);
    else if (evicts) report.warning('eviction-policy', `maxmemory-policy is ${policy}`, MEND);
    else if (policy !== undefined) report.ok('maxmemory-policy noeviction');
  },
});
