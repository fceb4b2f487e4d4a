import { Readable } from 'node:stream';
import type { LogRequest } from './log-request.js';
import { isLogFormatError, type LogOptions, newCounts, readLog } from './read-log.js';

async function read(text: string | Buffer | (string | Buffer)[], options: LogOptions = {}) {
  const counts = newCounts();
  const requests: LogRequest[] = [];
  const parts = [text].flat().map((part) => Buffer.from(part as string));
  for await (const batch of readLog(Readable.from(parts), options, counts)) requests.push(...batch);
  return { requests, counts, first: requests[0]! };
}

const at = (iso: string) => Date.parse(iso) * 1000;
const COMBINED =
  '203.0.113.7 - ann [22/Nov/2026:13:55:36 +0100] "GET /v1/a?x=1&x=2 HTTP/1.1" 200 512 "https://e.example/" "Mo\\x22zilla"';
const ALB =
  'h2 2026-11-22T22:23:00.186641Z app/my-lb/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.001 0.250 0.002 200 200 34 366 ' +
  '"POST https://www.example.com:443/v1/b HTTP/2.0" "curl/7.46.0" ECDHE TLSv1.2 arn:aws "Root=1-58" "www.example.com" "arn:x" 0 ' +
  '2026-11-22T22:22:59.900000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"';

describe('the combined and the common format', () => {
  test('the combined format yields time zone, user, query, escapes and headers', async () => {
    const { first, counts } = await read(COMBINED);
    expect(first).toMatchObject({
      time: at('2026-11-22T12:55:36Z'),
      ip: '203.0.113.7',
      user: { id: 'ann' },
      method: 'GET',
      path: '/v1/a',
      status: 200,
      headers: { referer: 'https://e.example/', 'user-agent': 'Mo"zilla' },
      line: 1,
    });
    expect(first.query).toMatchObject({ x: ['1', '2'] });
    expect(counts).toMatchObject({ lines: 1, requests: 1, bad: 0 });
    expect(counts.files).toEqual([{ name: 'stdin', format: 'combined', damage: undefined }]);
  });

  test('the common format, a missing user and extra fields are read', async () => {
    const { requests } = await read(
      '::1 - - [01/Mar/2024:00:00:00 -0530] "POST / HTTP/2.0" 201 -\n' +
        '10.0.0.1 - - [29/Feb/2024:23:59:60 +0000] "GET /a HTTP/1.1" 304 0 "-" "-" "1.2.3.4" 0.003\n',
    );
    expect(requests.map(({ time, ip, user, path }) => [time, ip, user, path])).toEqual([
      [at('2024-03-01T05:30:00Z'), '::1', undefined, '/'],
      [at('2024-03-01T00:00:00Z'), '10.0.0.1', undefined, '/a'],
    ]);
    expect(requests[1]!.headers).toEqual({});
  });

  test.each([
    ['a day that does not exist', COMBINED.replace('22/Nov', '31/Nov'), 'has a time that does not exist'],
    ['the year 9999', COMBINED.replace('2026', '9999'), 'after the year 2199'],
    ['TLS on a plain port', COMBINED.replace(/"GET.*?"/, '"\\x16\\x03\\x01"'), 'has no HTTP request'],
    ['an empty request', COMBINED.replace(/"GET.*?"/, '"-"'), 'has no HTTP request'],
    ['no log at all', 'hello', 'is not of the combined or the common log format'],
  ])('%s is a bad line', async (_, line, reason) => {
    const { counts } = await read(`${COMBINED}\n\n${line}\n`);
    expect(counts).toMatchObject({ lines: 2, requests: 1, bad: 1 });
    expect(counts.firstBad[0]).toMatchObject({ line: 3, reason: expect.stringContaining(reason) });
  });
});

test('an ALB line yields the moment of arrival, the duration and the host', async () => {
  const { first, counts } = await read(ALB);
  expect(first).toMatchObject({
    time: at('2026-11-22T22:22:59.900Z'),
    duration: 253_000,
    ip: '192.168.131.39',
    method: 'POST',
    path: '/v1/b',
    status: 200,
    headers: { host: 'www.example.com:443', 'user-agent': 'curl/7.46.0' },
  });
  expect(counts.files[0]!.format).toBe('alb');
  const old = ALB.replace(/ 0 2026.*/, ' 0').replace('0.001', '-1');
  expect((await read(old)).first).toMatchObject({ time: at('2026-11-22T22:23:00Z') + 186_641 });
});

describe('JSON lines', () => {
  test.each([
    [
      'nginx',
      {
        time_iso8601: '2026-11-22T13:00:00+01:00',
        request: 'GET /a HTTP/1.1',
        remote_addr: '10.0.0.1',
        request_time: '0.5',
        http_x_api_key: 'k',
      },
      500_000,
    ],
    [
      'pino',
      {
        time: 1_795_348_800_500,
        req: { method: 'GET', url: '/a', remoteAddress: '10.0.0.1', headers: { 'X-Api-Key': 'k' } },
        responseTime: 500,
      },
      500_000,
    ],
    [
      'Caddy',
      {
        ts: 1_795_348_800.5,
        request: { method: 'GET', uri: '/a', remote_ip: '10.0.0.1', headers: { 'X-Api-Key': ['k'] } },
        request_time: 0.5,
      },
      500_000,
    ],
    [
      'Google Cloud',
      {
        timestamp: '2026-11-22T12:00:00.250Z',
        httpRequest: {
          requestMethod: 'GET',
          requestUrl: 'https://a.example/a',
          remoteIp: '10.0.0.1',
          latency: '0.25s',
        },
        headers: { 'x-api-key': 'k' },
      },
      250_000,
    ],
  ])('a line of %s yields method, path, address, duration and headers', async (_, line, duration) => {
    const { first } = await read(JSON.stringify(line));
    const whole = at('2026-11-22T12:00:00Z');
    expect(first).toMatchObject({ method: 'GET', path: '/a', ip: '10.0.0.1', duration });
    expect([whole, whole - 500_000]).toContain(first.time);
    expect(first.headers['x-api-key']).toBe('k');
  });

  test('the option fields names the fields; a user may be an object', async () => {
    const line = {
      at: 1_795_348_800,
      m: 'PUT',
      where: { path: '/x' },
      who: { id: 7, plan: 'pro' },
      'a.b': 1,
    };
    const fields = { time: 'at', method: 'm', path: 'where.path', user: 'who' };
    const { first } = await read(JSON.stringify(line), { fields });
    expect(first).toMatchObject({ time: at('2026-11-22T12:00:00Z'), user: { id: 7, plan: 'pro' } });
    await expect(read('{}', { fields: { tiem: 'x' } as object })).rejects.toThrow('tiem');
    await expect(read('x', { format: 'clf' as 'common' })).rejects.toThrow('format must be one of');
    await expect(read(COMBINED, { format: 'common', fields })).rejects.toThrow(
      'fields are for the format json',
    );
  });
});

describe('hostile logs', () => {
  test('a log of an unknown format throws an error that shows its first line', async () => {
    const error = await read('nonsense\u0000\n'.repeat(60)).catch((thrown: unknown) => thrown);
    expect(isLogFormatError(error)).toBe(true);
    expect((error as Error).message).toContain('nonsense');
  });

  test('long lines, NUL, broken UTF-8, a byte order mark and CRLF do not stop the reader', async () => {
    const broken = Buffer.concat([
      Buffer.from('10.0.0.1 - - [22/Nov/2026:13:55:36 +0000] "GET /'),
      Buffer.from([0xff, 0xc3, 0x00]),
      Buffer.from(' HTTP/1.1" 200 1\r\n'),
    ]);
    const long = Buffer.alloc(1_000_000, 'x');
    const { requests, counts } = await read([`\ufeff${COMBINED}\r\n`, long, long, '\n', broken, COMBINED]);
    expect(counts).toMatchObject({ lines: 4, requests: 3, bad: 1 });
    expect(counts.firstBad[0]).toMatchObject({ line: 2, reason: 'is longer than 256 KB', text: '' });
    expect(requests.map(({ path }) => path)).toEqual(['/v1/a', '/\ufffd\ufffd\u0000', '/v1/a']);
  });

  test('a line split across chunks is read as one line', async () => {
    const bytes = Buffer.from(`${COMBINED}\n${COMBINED}\n`);
    for (const size of [1, 7, 64, 1_000]) {
      const pieces = [];
      for (let i = 0; i < bytes.length; i += size) pieces.push(bytes.subarray(i, i + size));
      expect((await read(pieces)).counts).toMatchObject({ lines: 2, requests: 2, bad: 0 });
    }
  });

  test('JSON that is not a request counts as a bad line', async () => {
    const lines = [
      '{"time":0,"method":"GET","url":"/"}',
      '[]',
      'null',
      '{',
      '{"__proto__":{"time":0}}',
      '{"time":1e300}',
    ];
    const { counts, first } = await read(lines.join('\n'));
    expect(first.time).toBe(0);
    expect(counts).toMatchObject({ requests: 1, bad: 5 });
  });
});
