import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Call, ManualClock, type MemoryStore, memoryStore } from '@sluice/core';
import supertest from 'supertest';
import { createApp } from './app.js';
import type { Answer, Model } from './model.js';

let clock: ManualClock;
let store: MemoryStore;
let server: Server;
let complete: Model['complete'];

beforeEach(async () => {
  clock = new ManualClock();
  store = memoryStore({ clock });
  complete = async () => ({ text: 'yes', tokens: 1500 });
  server = createApp({ complete: (...question) => complete(...question) }, store).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  jest.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const client = () => supertest(server);
/** 3 characters and `maxTokens`: the estimate is one more. */
const ask = (user: string, maxTokens = 3999) =>
  client().post('/chat').set('X-User', user).send({ prompt: 'why', maxTokens });
const left = async (user: string) => (await client().get('/tokens').set('X-User', user)).body.left;

/** A store that fails for these operations. */
function failAt(...operations: Call['operation'][]): jest.SpyInstance {
  const decide = store.decide.bind(store);
  const logged = jest.spyOn(console, 'error').mockImplementation();
  jest.spyOn(store, 'decide').mockImplementation((call) => {
    if (operations.includes(call.operation)) throw new Error('the store is out');
    return decide(call);
  });
  return logged;
}

test('refunds the surplus of a too high estimate', async () => {
  await ask('ann').expect(200, { text: 'yes', tokens: 1500 });
  expect(await left('ann')).toBe(8500);
  expect(await left('ben')).toBe(10_000);
});

test('takes the rest of a too low estimate afterwards, down to a debt', async () => {
  complete = async () => ({ text: 'a lot', tokens: 15_000 });
  await ask('ann').expect(200);
  expect(await left('ann')).toBe(0);
  await ask('ann', 100).expect(429);
  await clock.advance('30s'); // the debt of 5000 is paid
  await ask('ann', 100).expect(429);
  await clock.advance('1s');
  await ask('ann', 100).expect(200);
});

test('pending requests count with their estimates', async () => {
  const answered: (() => void)[] = [];
  complete = () =>
    new Promise<Answer>((resolve) => answered.push(() => resolve({ text: 'yes', tokens: 10 })));
  const running = [ask('ann'), ask('ann')].map((question) => question.expect(200).then());
  while (answered.length < 2) await new Promise(setImmediate);
  expect(await left('ann')).toBe(2000);
  await ask('ann').expect(429).expect('Retry-After', '12');
  for (const answer of answered) answer();
  await Promise.all(running);
  expect(await left('ann')).toBe(9980);
});

test('a request costs nothing if the model fails', async () => {
  complete = () => Promise.reject(new Error('overloaded'));
  await ask('ann').expect(502, 'overloaded\n');
  expect(await left('ann')).toBe(10_000);
});

test('the caller gets the error of the model, also if the store fails', async () => {
  const logged = failAt('refund');
  complete = () => Promise.reject(new Error('overloaded'));
  await ask('ann').expect(502, 'overloaded\n');
  expect(logged.mock.calls).toEqual([['the store is out']]);
  expect(await left('ann')).toBe(6000); // afterwards fewer requests may pass, never more
});

test.each([
  ['less', 1500],
  ['more', 5000],
])('returns an answer that cost %s than estimated while the store is out', async (_, tokens) => {
  const logged = failAt('refund', 'charge');
  complete = async () => ({ text: 'yes', tokens });
  await ask('ann').expect(200, { text: 'yes', tokens });
  expect(logged.mock.calls).toEqual([['the store is out']]);
  expect(await left('ann')).toBe(6000);
});

test('does not call the model while the store is out', async () => {
  failAt('consume');
  const prompts: string[] = [];
  complete = async (prompt) => {
    prompts.push(prompt);
    return { text: 'yes', tokens: 1 };
  };
  await ask('ann').expect(502, 'the store is out\n');
  expect(prompts).toEqual([]);
});

test.each([[{}], [{ prompt: 7 }], [{ prompt: 'x', maxTokens: 5000 }], [{ prompt: 'x', maxTokens: '1' }]])(
  'answers %j with a 400',
  async (question) => {
    await client()
      .post('/chat')
      .set('X-User', 'ann')
      .send(question)
      .expect(400, /^Give a prompt/);
    expect(await left('ann')).toBe(10_000);
  },
);

test('a request without a user gets a 401', async () => {
  await client().post('/chat').send({ prompt: 'why' }).expect(401);
});
