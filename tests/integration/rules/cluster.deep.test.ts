import { RequestLimit } from '../../../packages/http/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';
import { Messages } from '../../support/messages.js';
import { deciding } from '../../support/open-response.js';
import { uniqueName } from '../../support/redis-url.js';
import { OwnCluster } from '../cluster/own-cluster.js';

const own = new OwnCluster();

const rules = (hashTag: string) => `
name: shop
${hashTag}
rules:
  - { name: perIp, match: { path: /* }, limit: { fixedWindow: { limit: 9, window: 1h } } }
  - { name: perUser, match: { path: /* }, key: USER, limit: { gcra: { limit: 2, period: 1h, burst: 2 } } }
  - { name: next, mode: shadow, compare: perUser, limit: { fixedWindow: { limit: 1, window: 1h } } }
`;
const request = (user: string) =>
  ({
    ip: '192.0.2.1',
    user,
    method: 'GET',
    path: '/v1',
    headers: {},
    params: {},
    query: {},
    body: {},
  }) as const;

test('with a hashTag one script call decides all rules and shadow rules of a request', async () => {
  const store = own.store();
  const options = { store, keyPrefix: uniqueName('rules'), deadline: '10s', denyCache: false } as const;
  const limit = new RequestLimit<[]>('rateLimit', {
    rules: own.open(new Rules(rules('hashTag: shop'), options)),
  });
  await limit.connect();
  const decide = deciding(limit);
  const messages = new Messages();
  for (const user of ['ann', 'ann', 'bob'])
    expect(await decide(request(user))).toMatchObject({ allowed: true });
  expect(await decide(request('ann'))).toMatchObject({ allowed: false, policy: 'perUser' });
  messages.stop();
  expect(messages.on('sluice:store-call').map(({ calls }) => calls)).toEqual([2, 2, 2, 2]);
  expect(await limit.limiters.perIp!.peek('192.0.2.1')).toMatchObject({ remaining: 6 });
});

test('without a hashTag a document with several matching rules throws an error with the remedy', () => {
  expect(() => new Rules(rules(''), { store: own.store() })).toThrow(/hashTag/);
});
