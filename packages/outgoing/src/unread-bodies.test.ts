import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slidingLog } from '@sluice/core';
import axios from 'axios';
import { request } from 'undici';
import { eventually } from '../../../tests/support/eventually.js';
import { FakeUpstream } from '../../../tests/support/outgoing/fake-upstream.js';
import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { upstream } from './index.js';
import type { AnyResponse } from './reading/response-view.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

/** A body without an end, and whether it was cancelled. */
function endless(): { readonly body: ReadableStream<Uint8Array>; readonly ended: { isCancelled: boolean } } {
  const ended = { isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024)),
    cancel() {
      ended.isCancelled = true;
    },
  });
  return { body, ended };
}

test.each<[string, (body: Readable) => AnyResponse & { status: number }, string]>([
  ['undici', (body) => ({ status: 429, headers: {}, body }) as never, 'dump'],
  ['axios', (data) => ({ status: 429, headers: {}, data }) as never, 'destroy'],
  ['node:http', (message) => Object.assign(message, { status: 429, headers: {} }), 'destroy'],
])('run ends the body of a response of %s that is not used', async (_, responseOf, method) => {
  const calls: string[] = [];
  const body = Object.assign(new Readable({ read() {} }), method === 'dump' && { dump: async () => {} });
  const end = jest
    .spyOn(body as never, method as never)
    .mockImplementation((() => void calls.push(method)) as never);
  let sent = 0;
  const answer = { ...{ status: 200 }, headers: {} };
  const call = up.client().run({ url: '/a' }, async () => {
    sent += 1;
    return sent === 1 ? responseOf(body) : (answer as never);
  });
  await up.clock.advance('5s');
  expect(await call).toBe(answer);
  expect(calls).toEqual([method]);
  end.mockRestore();
});

test('run cancels the body of a Response that is not used, also of an error that has one', async () => {
  const [first, second] = [endless(), endless()];
  let sent = 0;
  const call = up.client().run({ url: '/a' }, async () => {
    sent += 1;
    if (sent === 1) return new Response(first.body, { status: 503 });
    if (sent === 2)
      throw Object.assign(new Error('503'), { response: new Response(second.body, { status: 503 }) });
    return new Response('ok');
  });
  await up.clock.advance('10s');
  expect((await call).status).toBe(200);
  expect([first.ended.isCancelled, second.ended.isCancelled]).toEqual([true, true]);
});

test('the body of a response that a reader fails to read is cancelled', async () => {
  const { body, ended } = endless();
  up.answer = () => new Response(body);
  const reads = [
    () => {
      throw new Error('a mistake of the reader');
    },
  ];
  expect(String(await rejection(up.client({ reads }).fetch('/a')))).toBe('Error: a mistake of the reader');
  expect(ended.isCancelled).toBe(true);
});

test('a copy for settle that was not read keeps nothing of the body', async () => {
  const { body, ended } = endless();
  up.answer = () => new Response(body);
  const limits = { requests: slidingLog({ limit: 10, window: '1s' }) };
  const response = await up.client({ limits, settle: () => ({ requests: 1 }) }).fetch('/a');
  await up.clock.advance(1);
  // Only when both copies are cancelled does the body end.
  await response.body!.cancel();
  expect(ended.isCancelled).toBe(true);
});

describe('a call that holds a permit until its response is over', () => {
  test('is not over when its cost is settled before its body is read', async () => {
    const limits = { requests: slidingLog({ limit: 10, window: '1s' }) };
    const settle = () => ({ requests: 2 });
    const client = up.client({ limits, concurrency: 1, settle, timeout: '5s' });
    const first = await client.fetch('/a');
    const next = client.fetch('/b');
    await up.clock.advance('1s');
    expect(up.paths).toBe('/a');
    await first.text();
    await up.clock.advance('1s');
    expect((await next).status).toBe(200);
  });

  test.each([429, 403, 503])(
    'is over when a short refusal of status %i has arrived, also unread',
    async (status) => {
      up.answer = ({ path }) => new Response('no', { status: path === '/a' ? status : 200 });
      const client = up.client({ concurrency: 1, timeout: '5s', retry: false });
      const refused = await client.fetch('/a');
      const next = client.fetch('/b');
      await up.clock.advance('4s');
      expect((await next).status).toBe(200);
      expect([refused.status, await refused.text()]).toEqual([status, 'no']);
    },
  );

  test('is not over while a refusal is too long to be read for its reason', async () => {
    up.answer = ({ path }) =>
      new Response(path === '/a' ? 'n'.repeat(100_000) : 'ok', { status: path === '/a' ? 503 : 200 });
    const client = up.client({ concurrency: 1, timeout: '5s', retry: false });
    const refused = await client.fetch('/a');
    const next = client.fetch('/b');
    await up.clock.advance('1s');
    expect(up.paths).toBe('/a');
    expect((await refused.text()).length).toBe(100_000);
    await up.clock.advance('1s');
    expect((await next).status).toBe(200);
  });

  test('is over when its signal is aborted, also if nobody reads the body', async () => {
    const client = up.client({ concurrency: 1, timeout: '5s' });
    const abort = new AbortController();
    const response = await client.fetch('/a', { signal: abort.signal });
    const next = client.fetch('/b');
    await up.clock.advance('1s');
    expect(up.paths).toBe('/a');
    abort.abort();
    await up.clock.advance('1s');
    expect(up.paths).toBe('/a /b');
    expect([(await next).status, response.bodyUsed]).toEqual([200, false]);
  });

  test('is over when its response was garbage collected, and the body is cancelled', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { body, ended } = endless();
    up.answer = ({ path }) => new Response(path === '/a' ? body : 'ok');
    const client = up.client({ concurrency: 1, timeout: '5s' });
    const { signal } = new AbortController();
    await client.fetch('/a', { signal });
    await eventually(async () => {
      collect();
      return ended.isCancelled;
    });
    expect((await client.fetch('/b', { signal })).status).toBe(200);
  });

  test.each<[string, 'status' | 'statusText' | 'url', unknown]>([
    ['a status above 599', 'status', 999],
    ['a reason that is no Latin text', 'statusText', '正常'],
    ['an address', 'url', 'https://api.example.com/a'],
  ])('passes %s on, and gives it to copies', async (_, name, value) => {
    up.answer = () => Object.defineProperty(new Response('ok'), name, { value });
    const client = up.client({ concurrency: 1, timeout: '5s' });
    for (let i = 0; i < 2; i += 1) {
      const response = await client.fetch('/a');
      expect([response[name], response.clone()[name], await response.text()]).toEqual([value, value, 'ok']);
    }
  });
});

test('a redirect is followed whether or not its body can be cancelled', async () => {
  const bodies = [() => Promise.reject(new TypeError('terminated')), () => new Promise<void>(() => {})];
  up.answer = ({ number }) => {
    const cancel = bodies[number - 1];
    if (cancel === undefined) return new Response('ok');
    return new Response(new ReadableStream({ cancel }), { status: 302, headers: { location: '/b' } });
  };
  expect(await (await up.client().fetch('/a')).text()).toBe('ok');
  expect(up.paths).toBe('/a /b /b');
});

test('run repeats real responses of undici and axios whose bodies were not read', async () => {
  const service = await FakeUpstream.start();
  service.script = (_, number) => (number % 2 === 1 ? [429, { 'retry-after': '0.05' }] : [200, {}]);
  const client = upstream({ name: 'service', origin: service.origin });
  const url = `${service.origin}/a`;
  const ofUndici = await client.run({ url }, () => request(url));
  expect([ofUndici.statusCode, await ofUndici.body.text()]).toEqual([200, '{}']);
  const ofAxios = await client.run({ url }, () => axios.get(url, { responseType: 'stream' }));
  expect([ofAxios.status, await ofAxios.data.toArray()]).toEqual([200, [Buffer.from('{}')]]);
  await client.close();
  await service.stop();
});
