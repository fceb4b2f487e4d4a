import axios from 'axios';
import { Agent, request, stream, fetch as undiciFetch } from 'undici';
import { FakeUpstream } from '../../../tests/support/outgoing/fake-upstream.js';
import { rejection } from '../../../tests/support/rejection.js';
import { isUpstreamPausedError, standardHeaders, type Upstream, upstream } from './index.js';

let service: FakeUpstream;
let client: Upstream;
const made = (options: Partial<Parameters<typeof upstream>[0]> = {}) => {
  client = upstream({
    name: 'service',
    origin: service.origin,
    reads: [standardHeaders({ scope: 'account' })],
    ...options,
  });
  return client;
};
beforeEach(async () => {
  service = await FakeUpstream.start();
});
afterEach(async () => {
  await client.close();
  await service.stop();
});

const once = (status: number, headers: Record<string, string>) => {
  service.script = (_, number) => (number === 1 ? [status, headers] : [200, { 'x-number': String(number) }]);
};

describe('the interceptor of undici', () => {
  const agents: Agent[] = [];
  const agent = (options?: Parameters<typeof made>[0]) => {
    const bare = new Agent();
    agents.push(bare);
    return bare.compose(made(options).interceptor());
  };
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((one) => one.close()));
  });

  test('a refusal is waited for and repeated, and the caller gets the second response', async () => {
    once(429, { 'retry-after': '0.05' });
    const dispatcher = agent();
    const { statusCode, headers, body } = await request(`${service.origin}/a`, { dispatcher });
    expect([statusCode, headers['x-number'], await body.json()]).toEqual([200, '2', {}]);
  });

  test('a POST with a text is sent again whole, one with a stream is not', async () => {
    once(429, { 'retry-after': '0.05' });
    const dispatcher = agent();
    const post = { method: 'POST', dispatcher } as const;
    expect((await request(`${service.origin}/a`, { ...post, body: 'text' })).statusCode).toBe(200);
    service.log.length = 0;
    const body = new Blob(['x']).stream();
    expect((await request(`${service.origin}/a`, { ...post, body: body as never })).statusCode).toBe(429);
    expect(service.log).toHaveLength(1);
  });

  test('while a pause is in force, requests reject without being sent, and fetch rejects with it as cause', async () => {
    once(429, { 'retry-after': '600' });
    const dispatcher = agent();
    const refused = await request(`${service.origin}/a`, { dispatcher });
    expect([refused.statusCode, await refused.body.text()]).toEqual([429, '{}']);
    expect(isUpstreamPausedError(await rejection(request(`${service.origin}/b`, { dispatcher })))).toBe(true);
    const error = await rejection(undiciFetch(`${service.origin}/c`, { dispatcher }));
    expect(isUpstreamPausedError((error as Error).cause)).toBe(true);
    expect(service.log).toHaveLength(1);
  });

  test('a signal ends a wait, and a request to another origin passes untouched', async () => {
    once(429, { 'retry-after': '20' });
    const dispatcher = agent();
    const signal = AbortSignal.timeout(50);
    const error = await rejection(request(`${service.origin}/a`, { dispatcher, signal }));
    expect((error as Error).name).toBe('TimeoutError');
    const other = await FakeUpstream.start();
    expect((await request(other.origin, { dispatcher })).statusCode).toBe(200);
    await other.stop();
  });

  test('a response that its handler throws at ends its request, and gives its permit back', async () => {
    const dispatcher = agent({ concurrency: 1, timeout: '5s' });
    const full = new Error('the disk is full');
    const download = stream(`${service.origin}/a`, { dispatcher, method: 'GET' }, () => {
      throw full;
    });
    expect(await rejection(download)).toBe(full);
    const { statusCode, body } = await request(`${service.origin}/b`, { dispatcher });
    expect([statusCode, await body.text()]).toEqual([200, '{}']);
  });

  test('a path with two slashes is a request to the origin, which a pause holds up', async () => {
    once(429, { 'retry-after': '600' });
    const dispatcher = agent();
    const refused = await request(`${service.origin}//files/a`, { dispatcher });
    expect([refused.statusCode, await refused.body.text()]).toEqual([429, '{}']);
    const paused = await rejection(request(`${service.origin}//files/b`, { dispatcher }));
    expect(isUpstreamPausedError(paused)).toBe(true);
    expect(service.log.map(({ path }) => path)).toEqual(['//files/a']);
  });

  test('at most `concurrency` requests run at once, until their bodies are over', async () => {
    const dispatcher = agent({ concurrency: 1, timeout: '5s' });
    const bodies = await Promise.all(
      ['/a', '/b', '/c'].map(async (path) =>
        (await request(service.origin + path, { dispatcher })).body.text(),
      ),
    );
    expect(bodies).toEqual(['{}', '{}', '{}']);
    const calls = service.log.map(({ at, ended }) => [at, ended] as const).sort(([a], [b]) => a - b);
    for (let i = 1; i < calls.length; i += 1) expect(calls[i]![0]).toBeGreaterThanOrEqual(calls[i - 1]![1]);
  });
});

describe('run', () => {
  const axiosThrough = (url: string) => client.run({ url }, () => axios.get(url));

  test('an error that a client throws is read for its response, repeated, and thrown in the end', async () => {
    made({ retry: { attempts: 2 } });
    once(429, { 'retry-after': '0.05' });
    expect((await axiosThrough(`${service.origin}/a`)).status).toBe(200);
    service.script = () => [429, { 'retry-after': '600' }];
    const error = await rejection(axiosThrough(`${service.origin}/a`));
    expect((error as { response: { status: number } }).response.status).toBe(429);
    expect(isUpstreamPausedError(await rejection(axiosThrough(`${service.origin}/a`)))).toBe(true);
  });

  test('calls that axios cancels are not repeated, and are no overload of the service', async () => {
    made();
    const url = `${service.origin}/a`;
    let attempts = 0;
    const canceled = () => {
      attempts += 1;
      return axios.get(url, { signal: AbortSignal.abort() });
    };
    for (let i = 0; i < 6; i += 1)
      expect(await rejection(client.run({ url }, canceled))).toHaveProperty('code', 'ERR_CANCELED');
    expect([attempts, await client.state()]).toEqual([6, []]);
    expect((await axiosThrough(url)).status).toBe(200);
  });

  test('the adapter fetch of axios takes the client as its fetch', async () => {
    made();
    once(429, { 'retry-after': '0.05' });
    const api = axios.create({
      baseURL: service.origin,
      adapter: 'fetch',
      env: { fetch: client.fetch, Request: null as never, Response: null as never },
    });
    expect((await api.get('/a')).headers['x-number']).toBe('2');
  });

  test('addresses outside of the origin and wrong arguments are refused', async () => {
    made();
    expect(
      await rejection(client.run({ url: 'https://evil.example/' }, async () => new Response())),
    ).toBeInstanceOf(TypeError);
    expect(await rejection(client.run({ url: '/a' }, undefined as never))).toBeInstanceOf(TypeError);
    expect(service.log).toEqual([]);
  });
});
