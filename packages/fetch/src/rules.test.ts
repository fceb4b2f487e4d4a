import { ManualClock, memoryStore } from '@sluice/core';
import { Rules } from '@sluice/rules';
import { rateLimit } from './index.js';

const DOCUMENT = `
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{headers.x-user}'
    limit: { fixedWindow: { limit: 1, window: 1h } }
    reply: { status: 420, headers: { x-help: /limits } }
`;

let rules: Rules;
beforeEach(() => {
  rules = new Rules(DOCUMENT, { store: memoryStore({ clock: new ManualClock() }) });
});
afterEach(() => rules.close());

test('a rule lets requests pass, sets headers, and answers denials with its own reply', async () => {
  const limit = rateLimit({ rules });
  const respond = async (path: string, user = 'ann') => {
    const request = new Request(`http://localhost${path}`, { headers: { 'x-user': user } });
    return (await limit(request)) ?? limit.complete(request, new Response('ok'));
  };
  const passed = await respond('/v1/a');
  expect([passed.status, passed.headers.get('RateLimit')]).toEqual([200, '"rules.api";r=0;t=3600']);
  const denied = await respond('/v1/a');
  expect([denied.status, denied.headers.get('x-help')]).toEqual([420, '/limits']);
  expect(await denied.json()).toMatchObject({ status: 420, 'violated-policies': ['rules.api'] });
  expect((await respond('/v1/a', 'bob')).status).toBe(200);
  expect((await respond('/free')).headers.get('RateLimit')).toBeNull();
});

test('an option that has no effect with rules is refused', () => {
  expect(() => rateLimit({ rules, keyPrefix: 'a' } as never)).toThrow('keyPrefix has no effect with rules');
});
