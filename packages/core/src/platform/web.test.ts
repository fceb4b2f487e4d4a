import { createHash } from 'node:crypto';
import * as node from './node.js';
import * as web from './web.js';

test('the web platform has the same exports as the Node.js platform', () => {
  expect(Object.keys(web).sort()).toEqual(Object.keys(node).sort());
});

test('the web platform computes the same SHA-256 as Node.js, for any text', () => {
  const parts = ['a', 'é', '€', '\u{1f600}', '\ud800', '\u0000'];
  const texts = Array.from({ length: 300 }, (_, n) => parts[n % parts.length]!.repeat(n));
  for (const text of texts) {
    expect(web.sha256(text, 'utf8')).toBe(node.sha256(text, 'utf8'));
    expect(web.sha256(text, 'utf16le')).toBe(
      createHash('sha256').update(text, 'utf16le').digest('base64url'),
    );
  }
});

test('a web channel calls its subscribers until they unsubscribe', () => {
  const channel = web.channel('sluice:test');
  const heard: unknown[] = [];
  const listener = (message: unknown) => void heard.push(message);
  expect([web.channel('sluice:test') === channel, channel.hasSubscribers]).toEqual([true, false]);
  channel.subscribe(listener);
  channel.publish(1);
  channel.unsubscribe(listener);
  channel.publish(2);
  expect([heard, channel.hasSubscribers]).toEqual([[1], false]);
});

test('on the web, a wide path and a Redis store fail with an error that names the remedy', () => {
  expect(() => web.jsonPath()).toThrow(/need the package jsonpath-plus.*Compute the key in a function/);
  expect(web.noRedis).toMatch(/Node\.js only.*export const runtime = 'nodejs'.*memoryStore\(\)/);
});
