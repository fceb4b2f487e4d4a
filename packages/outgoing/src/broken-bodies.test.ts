import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { standardHeaders } from './index.js';
import type { Handler } from './undici/attempt.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

const account = { reads: [standardHeaders({ scope: 'account' })] };
const HEADERS = { 'retry-after': '5', 'content-type': 'application/json' };
const broken = new TypeError('terminated');
type Ending = 'breaks' | 'stalls';

/** A refusal whose body begins, and then breaks or stalls. */
const refusal = (ending: Ending) => {
  let begun = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!begun) controller.enqueue(new TextEncoder().encode('{"message":'));
      else if (ending === 'breaks') controller.error(broken);
      else return new Promise(() => {});
      begun = true;
      return undefined;
    },
  });
  return new Response(body, { status: 429, headers: HEADERS });
};

describe.each<Ending>(['breaks', 'stalls'])('a refusal whose body %s', (ending) => {
  test('still pauses, and is the result of a call that is not repeated', async () => {
    up.answer = () => refusal(ending);
    const client = up.client({ ...account, retry: false });
    const call = client.fetch('/a');
    await up.clock.advance('1s');
    expect((await call).status).toBe(429);
    expect(await client.state()).toMatchObject([{ scope: 'account', status: 429, header: 'retry-after' }]);
  });

  test('is repeated after its pause', async () => {
    up.answer = ({ number }) => (number === 1 ? refusal(ending) : new Response('ok'));
    const call = up.client(account).fetch('/a');
    await up.clock.advance('7s');
    expect(await (await call).text()).toBe('ok');
  });

  test('still pauses through the interceptor of undici, and passes its status and its error on', async () => {
    const client = up.client({ ...account, retry: false });
    const received: unknown[] = [];
    const controller = {
      pause: () => received.push('pause'),
      resume: () => received.push('resume'),
      abort: () => {},
    };
    const dispatch = client.interceptor()((_: object, handler: Handler) => {
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 429, HEADERS);
      handler.onResponseData?.(controller, Buffer.from('{"message":'));
      if (ending === 'breaks') handler.onResponseError?.(controller, broken);
      return true;
    });
    dispatch(
      { origin: client.origin, path: '/a', method: 'GET' },
      {
        onResponseStart: (_, status) => void received.push(status),
        onResponseData: (_, chunk) => void received.push(String(chunk)),
        onResponseError: (_, error) => void received.push(error),
      },
    );
    await up.clock.advance('1s');
    expect(await client.state()).toMatchObject([{ scope: 'account', status: 429 }]);
    const response = [429, '{"message":'];
    expect(received).toEqual(ending === 'breaks' ? [...response, broken] : ['pause', ...response, 'resume']);
  });
});

test('a signal that is aborted while the body is read ends the call with its reason', async () => {
  const abort = new AbortController();
  up.answer = () => {
    const body = new ReadableStream({
      start: (controller) =>
        abort.signal.addEventListener('abort', () => controller.error(abort.signal.reason)),
    });
    return new Response(body, { status: 429, headers: HEADERS });
  };
  const call = rejection(up.client(account).fetch('/a', { signal: abort.signal }));
  await up.clock.advance('500ms');
  abort.abort(new Error('enough'));
  expect(String(await call)).toBe('Error: enough');
});

test('a refusal whose body cannot be cancelled is repeated', async () => {
  const body = () => new ReadableStream({ cancel: () => Promise.reject(broken) });
  up.answer = ({ number }) =>
    number === 1
      ? new Response(body(), { status: 429, headers: { ...HEADERS, 'content-type': 'image/png' } })
      : new Response('ok');
  const call = up.client(account).fetch('/a');
  await up.clock.advance('6s');
  expect((await call).status).toBe(200);
});
