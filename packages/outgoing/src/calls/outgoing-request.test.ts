import { AxiosHeaders } from 'axios';
import { headersOf } from './outgoing-request.js';

const PAIRS: [string, string][] = [['Authorization', 'Bearer one']];

test.each<[string, Parameters<typeof headersOf>[0]]>([
  ['Headers', new Headers(PAIRS)],
  ['pairs', PAIRS],
  ['an object', Object.fromEntries(PAIRS)],
  ['headers of axios', new AxiosHeaders(Object.fromEntries(PAIRS)) as never],
  ['a Map', new Map(PAIRS) as never],
])('%s have a value by the name in any case, and null for a missing name', (_, source) => {
  const headers = headersOf(source);
  expect(headers.get('authorization')).toBe('Bearer one');
  expect(headers.get('idempotency-key')).toBeNull();
});

test('a header that axios does not send is missing', () => {
  const headers = headersOf(new AxiosHeaders().set('Idempotency-Key', false) as never);
  expect(headers.get('idempotency-key')).toBeNull();
});
