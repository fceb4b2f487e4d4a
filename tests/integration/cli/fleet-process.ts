import { readDefinitions } from '@sluice/fleet';
import {
  concurrency,
  fixedWindow,
  RateLimiter,
  type Store,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { rethrow } from '../../support/rethrow.js';

/** A key with control characters for a terminal. */
export const HOSTILE = 'x\u001b[2J\u202e<script>';

/** The published limiters of a service. login denies ann, api blocks bob, and carl holds a job. */
export async function service(store: Store) {
  const common = { store, deadline: '10s', denyCache: false, failurePolicy: rethrow } as const;
  const policies = {
    perMinute: fixedWindow({ limit: 5, window: '1h' }),
    perDay: fixedWindow({ limit: 50, window: '1d' }),
  };
  const login = new RateLimiter({ name: 'login', policies, ...common });
  const api = new RateLimiter({
    name: 'api',
    policy: tokenBucket({ capacity: 10, refill: 1, every: '1h' }),
    ...common,
  });
  const jobs = new RateLimiter({ name: 'jobs', policy: concurrency({ limit: 2, lease: '1h' }), ...common });
  for (let i = 0; i < 6; i += 1) await login.consume('ann');
  await api.consume('ann', { cost: 3 });
  await api.block('bob', '1h');
  await jobs.reset('carl'); // of another service in the same Redis
  await jobs.acquire('carl');
  await api.consume(HOSTILE);
  await eventually(async () => (await readDefinitions(store))[0]?.limiters.length === 3);
  return { login, api, jobs };
}
