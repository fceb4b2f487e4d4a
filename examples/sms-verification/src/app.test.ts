import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ManualClock, type MemoryStore, memoryStore } from '@sluice/core';
import supertest from 'supertest';
import { createApp } from './app.js';
import type { SmsGateway } from './gateway.js';

const PHONE = '+4915123456789';
let clock: ManualClock;
let store: MemoryStore;
let server: Server;
let sent: string[];
let send: SmsGateway['send'];

beforeEach(async () => {
  clock = new ManualClock();
  store = memoryStore({ clock });
  sent = [];
  send = async (phone) => void sent.push(phone);
  const gateway: SmsGateway = { send: (phone, text) => send(phone, text) };
  server = createApp(gateway, store).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (phone: unknown) => supertest(server).post('/codes').send({ phone });
const other = (i: number) => `+491512345${String(i).padStart(4, '0')}`;

test('sends one code per minute to a phone number, in any spelling', async () => {
  await ask(PHONE).expect(202);
  await ask('+49 (151) 234-567.89').expect(429).expect('Retry-After', '60');
  await ask(other(1)).expect(202);
  await clock.advance('1m');
  await ask(PHONE).expect(202);
  expect(sent).toEqual([PHONE, other(1), PHONE]);
});

test('sends five codes a day to a phone number', async () => {
  for (let i = 0; i < 5; i++) {
    await ask(PHONE).expect(202);
    await clock.advance('1m');
  }
  const denied = await ask(PHONE).expect(429);
  expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['codes.perPhone.perDay'] });
});

test('a denial for the phone number takes nothing from the address, and the reverse', async () => {
  for (let i = 0; i < 20; i++) await ask(PHONE).expect(i === 0 ? 202 : 429);
  for (let i = 1; i < 10; i++) await ask(other(i)).expect(202);
  const denied = await ask(other(10)).expect(429);
  expect(JSON.parse(denied.text)).toMatchObject({ 'violated-policies': ['codes.perIp'] });
  await clock.advance('1h');
  await ask(other(10)).expect(202);
});

test('does not count a message that the gateway did not accept', async () => {
  const works = send;
  send = async () => {
    throw new Error('out of order');
  };
  for (let i = 0; i < 12; i++) await ask(PHONE).expect(502, 'out of order; try again\n');
  send = works;
  await ask(PHONE).expect(202);
  await ask(PHONE).expect(429);
});

test('counts a code whose client disconnected before the response', async () => {
  const { port } = server.address() as AddressInfo;
  const aborted = new AbortController();
  const works = send;
  send = async (phone, text) => {
    send = works;
    const closed = once(server, 'sluice-test:closed');
    aborted.abort();
    await closed;
    await works(phone, text);
  };
  server.once('request', (request) => request.socket.once('close', () => server.emit('sluice-test:closed')));
  const body = new URLSearchParams({ phone: PHONE });
  const answer = fetch(`http://127.0.0.1:${port}/codes`, { method: 'POST', body, signal: aborted.signal });
  await expect(answer).rejects.toThrow('abort');
  await ask(PHONE).expect(429);
  expect(sent).toEqual([PHONE]);
});

test.each([
  ['an object', 'phone[length]=9', 'application/x-www-form-urlencoded'],
  ['a list', `phone[]=${encodeURIComponent(PHONE)}`, 'application/x-www-form-urlencoded'],
  ['an object in JSON', '{"phone":{"length":9}}', 'application/json'],
  ['no country', '{"phone":"0151 23456789"}', 'application/json'],
  ['nothing', '', 'application/json'],
  ['half of a body', '{"phone":', 'application/json'],
])('answers %s with a 400, and does not count it', async (_, body, type) => {
  for (let i = 0; i < 11; i++) {
    await supertest(server).post('/codes').type(type).send(body).expect(400);
  }
  await ask(PHONE).expect(202);
});
