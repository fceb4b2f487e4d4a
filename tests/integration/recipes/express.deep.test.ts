import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redisStore } from '@sluice/core';
import { storedRules } from '@sluice/rules';
import { eventually } from '../../support/eventually.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { type Program, startBlock } from './program.js';

let program: Program | undefined;
afterEach(() => program?.stop());

test('a stream gives its permit back when its client leaves', async () => {
  program = await startBlock('docs/recipes/streams.md', 'streams');
  const { url } = program;
  const open = async () => {
    const leaving = new AbortController();
    const { status, body } = await fetch(`${url}/stream`, { signal: leaving.signal });
    const { value } = await body!.getReader().read();
    return { status, text: Buffer.from(value!).toString(), leave: () => leaving.abort() };
  };
  const first = await open();
  expect([first.status, first.text]).toEqual([200, 'line 1\n']);
  const second = await open();
  expect((await fetch(`${url}/stream`)).status).toBe(429);

  first.leave();
  const third = await eventually(async () => {
    const stream = await open();
    return stream.status === 200 && stream;
  });
  expect((await fetch(`${url}/stream`)).status).toBe(429);
  second.leave();
  third.leave();
  expect(program.output()).toBe('');
});

test('a queue lets two reports run, lets ten requests wait, and denies the others', async () => {
  program = await startBlock('docs/recipes/expensive-routes.md', 'expensive');
  const { url } = program;
  const responses = await Promise.all(Array.from({ length: 30 }, () => fetch(`${url}/report`)));
  const bodies = await Promise.all(responses.filter(({ ok }) => ok).map((response) => response.text()));
  expect(bodies.length).toBeGreaterThanOrEqual(12);
  expect(new Set(bodies)).toEqual(new Set(['1 at once', '2 at once']));
  const denied = responses.filter(({ status }) => status === 429);
  expect(denied.length).toBe(30 - bodies.length);
  expect(denied.length).toBeGreaterThan(0);
  for (const { headers } of denied) expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
});

test('users have the limits of their plans in the store, and a push changes them while the program runs', async () => {
  const page = 'docs/recipes/plans-and-tiers.md';
  const [, document] = /^```yaml\n([\s\S]*?)^```$/m.exec(
    readFileSync(join(__dirname, '../../..', page), 'utf8'),
  )!;
  const name = uniqueName('plans');
  const store = redisStore(redisUrl());
  try {
    const source = storedRules(store, { name });
    await source.push(`name: ${name}\n${document}`);
    const loaded = `storedRules(store, { name: '${name}' }), { store, deadline: '30s' }`;
    const replace = { 'storedRules(store), { store }': loaded };
    program = await startBlock(page, 'stored-plans', { replace });
    const get = async (key: string) => {
      const response = await fetch(`${program!.url}/v1/items`, { headers: { 'x-api-key': key } });
      return `${response.status} ${await response.text()}`;
    };
    expect(await get('key-of-ann')).toBe('200 59 left');
    expect(await get('key-of-bob')).toBe('200 599 left');
    expect(await get('key-of-eve')).toBe('401 Unauthorized');
    await source.push(`name: ${name}\n${document!.replace('600', '9000')}`);
    await eventually(async () => /^200 8\d{3} left$/.test(await get('key-of-bob')));
    expect(program.output()).toBe('');
  } finally {
    await store.close();
  }
});
