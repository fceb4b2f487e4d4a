import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { RedisClient } from './redis-client.js';
import { RedisDepartures } from './redis-departures.js';

/** A connection that tells how many commands each write took along. */
function connection() {
  const writes: number[] = [];
  const stream = new Writable({
    write(_chunk, _encoding, done) {
      writes.push(1);
      done();
    },
    writev(chunks, done) {
      writes.push(chunks.length);
      done();
    },
  });
  return { writes, stream };
}

const clientOf = (stream?: unknown) => ({ stream }) as unknown as RedisClient;

test('commands of one turn leave in one write, and those of the next in another', async () => {
  const { writes, stream } = connection();
  const departures = new RedisDepartures();
  for (let i = 0; i < 5; i += 1) {
    expect(departures.send(clientOf(stream), () => stream.write(`${i}`) && i)).toBe(i);
    await null; // as calls of one turn come: each from a promise of its own
  }
  expect(writes).toEqual([]);
  await turn();
  expect(writes).toEqual([5]);

  departures.send(clientOf(stream), () => stream.write('a'));
  departures.send(clientOf(stream), () => stream.write('b'));
  await turn();
  expect(writes).toEqual([5, 2]);
});

test('sixteen leave without waiting for the rest', async () => {
  const { writes, stream } = connection();
  const departures = new RedisDepartures();
  for (let i = 0; i < 35; i += 1) departures.send(clientOf(stream), () => stream.write('x'));
  await null; // Writable hands over what it has when it is done with what went before
  expect(writes[0]).toBe(16);
  await turn();
  expect(writes.reduce((sum, size) => sum + size)).toBe(35);
  expect(writes.length).toBeLessThanOrEqual(3);
});

test('a connection that is replaced within a turn is left open, and so is the next', async () => {
  const [before, after] = [connection(), connection()];
  const departures = new RedisDepartures();
  departures.send(clientOf(before.stream), () => before.stream.write('x'));
  departures.send(clientOf(after.stream), () => after.stream.write('x'));
  departures.send(clientOf(after.stream), () => after.stream.write('x'));
  await turn();
  expect([before.writes, after.writes]).toEqual([[1], [2]]);
  expect([before.stream.writableCorked, after.stream.writableCorked]).toEqual([0, 0]);
});

test('a command that fails keeps nobody back', async () => {
  const { writes, stream } = connection();
  const departures = new RedisDepartures();
  departures.send(clientOf(stream), () => stream.write('x'));
  expect(() =>
    departures.send(clientOf(stream), () => {
      throw new Error('not writable');
    }),
  ).toThrow('not writable');
  await turn();
  expect(writes).toEqual([1]);
  expect(stream.writableCorked).toBe(0);
});

test.each([undefined, null, {}, 'stream'])('a client whose stream is %p sends at once', (stream) => {
  let sent = 0;
  new RedisDepartures().send(clientOf(stream), () => {
    sent += 1;
  });
  expect(sent).toBe(1);
});
