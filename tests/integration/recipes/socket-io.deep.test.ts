import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { blockTagged } from '../docs/markdown.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

interface Client {
  on(event: string, listener: (...args: never[]) => void): void;
  send(text: string): void;
}

/** What the tests use of `socket.io-client`. */
interface Socket {
  on(event: string, listener: (...args: never[]) => void): void;
  emit(event: string, text: string, acknowledge: (answer: string) => void): void;
  connect(): void;
  disconnect(): void;
  readonly active: boolean;
}

const PAGE = 'docs/recipes/socket-io.md';
const file = resolve(__dirname, '../../..', PAGE);
/** The program's own code comes before this. */
const CONNECTION = "io.on('connection'";

let modules: string;
let WebSocket: new (url: string) => Client;
let io: (url: string, options: object) => Socket;
beforeAll(async () => {
  modules = await recipePackages();
  WebSocket = createRequire(join(modules, 'ws/package.json'))('ws');
  ({ io } = createRequire(join(modules, 'socket.io-client/package.json'))('socket.io-client'));
}, 300_000);
let program: Program;
afterEach(() => program?.stop());

/**
 * Speaks the protocol of Socket.IO: connects, and sends events that want an acknowledgement.
 * @returns the acknowledged events, the seconds of `limited`, and the status of a denied handshake
 */
function talk(events: number) {
  return new Promise<{ answers: string[]; limited: number | undefined; status: number | undefined }>(
    (resolve) => {
      const answers: string[] = [];
      let limited: number | undefined;
      const client = new WebSocket(
        `${program.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`,
      );
      client.on('message', (data: Buffer) => {
        const text = String(data);
        if (text.startsWith('0{')) client.send('40');
        else if (text === '2') client.send('3');
        else if (text.startsWith('40'))
          for (let i = 1; i <= events; i += 1) client.send(`42${i}["echo","${i}"]`);
        else if (text.startsWith('43')) answers.push(JSON.parse(text.replace(/^\d+/, ''))[0]);
        else if (text.startsWith('42["limited"')) limited = JSON.parse(text.slice(2))[1].retryAfter;
      });
      client.on('close', () => resolve({ answers, limited, status: undefined }));
      client.on('error', () => {});
      client.on('unexpected-response', (_: unknown, { statusCode }: never) => {
        resolve({ answers, limited, status: statusCode });
      });
    },
  );
}

test('a socket that sends too fast learns when to come back and is disconnected; later handshakes are refused', async () => {
  program = await startBlock(PAGE, 'socket-io', { modules });
  const first = await talk(60);
  expect(first.answers.length).toBeGreaterThanOrEqual(20);
  expect(first.answers.length).toBeLessThan(60);
  expect(first.answers).toEqual(first.answers.map((_, i) => `echo: ${i + 1}`));
  expect(first.limited).toBe(1);
  for (let i = 2; i <= 5; i += 1) expect((await talk(60)).limited).toBe(1);
  expect((await talk(1)).status).toBe(400);
  const polling = await fetch(`${program.url}/socket.io/?EIO=4&transport=polling`);
  expect([polling.status, await polling.json()]).toEqual([403, { code: 4, message: 'Too many connections' }]);
});

test("Socket.IO's own client learns when to come back, and connects again only by connect()", async () => {
  program = await startBlock(PAGE, 'socket-io', { modules });
  const socket = io(program.url, { forceNew: true });
  const answers: string[] = [];
  const seconds: number[] = [];
  const ends: string[] = [];
  const flood = (events: number) => {
    for (let i = 1; i <= events; i += 1) socket.emit('echo', `${i}`, (answer) => answers.push(answer));
  };
  socket.on('limited', ({ retryAfter }: { retryAfter: number }) => seconds.push(retryAfter));
  socket.on('disconnect', (reason: string) => ends.push(reason));
  let connections = 0;
  socket.on('connect', () => {
    connections += 1;
    flood(connections === 1 ? 60 : 5);
  });
  await eventually(async () => ends.length === 1);
  expect([ends, new Set(seconds), socket.active]).toEqual([['io server disconnect'], new Set([1]), false]);
  expect(answers.length).toBeGreaterThanOrEqual(20);
  expect(answers.length).toBeLessThan(60);
  await new Promise((done) => setTimeout(done, 1_000 * seconds[0]!));
  expect(connections).toBe(1);
  const before = answers.length;
  socket.connect();
  await eventually(async () => answers.length === before + 5);
  socket.disconnect();
});

test("Socket.IO's own client gets an error with the status of a refused handshake", async () => {
  program = await startBlock(PAGE, 'socket-io', { modules });
  const outcome = () =>
    new Promise<unknown>((done) => {
      const socket = io(program.url, { forceNew: true, reconnection: false });
      const end = (what: unknown) => {
        socket.disconnect();
        done(what);
      };
      socket.on('connect', () => end('connected'));
      socket.on('connect_error', ({ description }: { description: unknown }) => end(description));
    });
  const outcomes = [];
  for (let i = 0; i < 6; i += 1) outcomes.push(await outcome());
  expect(outcomes).toEqual([...Array(5).fill('connected'), 403]);
});

test('a thousand sockets that flood get no more answers than the limit, and are all disconnected', async () => {
  const replace = {
    ...{ 'limit: 5': 'limit: 1000', 'limit: 20': 'limit: 1000' },
    ...{ "every: '1s'": "every: '1h'", "window: '1m'": "window: '1h'" },
  };
  program = await startBlock(PAGE, 'socket-io', { modules, replace });
  const ends = await Promise.all(Array.from({ length: 1000 }, () => talk(21)));
  expect(ends.flatMap(({ answers }) => answers)).toHaveLength(20);
  expect(ends.filter(({ limited }) => limited === undefined)).toEqual([]);
  expect((await talk(1)).status).toBe(400);
  expect(await (await fetch(program.url)).text()).toBe('connect with Socket.IO');
  expect(program.output()).toBe('');
}, 180_000);

/** Packets that one connection sends at most. */
const MOST = 20_000;

/** Opens one connection, and answers each packet of the server that `again` fits with `packet`. @returns the number of packets, and whether it ended */
function repeat(packet: (i: number) => string, again: RegExp) {
  const state = { sent: 0, closed: false };
  const client = new WebSocket(`${program.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
  client.on('error', () => {});
  client.on('close', () => {
    state.closed = true;
  });
  client.on('message', (data: Buffer) => {
    if (!again.test(String(data)) || state.sent === MOST) return;
    client.send(packet(state.sent));
    state.sent += 1;
  });
  return state;
}

test('one connection makes no more sign-in attempts than its address may join', async () => {
  const signIn = "io.use((_socket, next) => { console.log('tried'); next(new Error('wrong')); });";
  const replace = { [CONNECTION]: `${signIn}\n${CONNECTION}`, "window: '1m'": "window: '1h'" };
  program = await startBlock(PAGE, 'socket-io', { modules, replace });
  const guesses = repeat((i) => `40{"token":"${i}"}`, /^0\{|^44/);
  await eventually(async () => guesses.closed || guesses.sent === MOST);
  expect([guesses.closed, program.output()]).toEqual([true, 'tried\n'.repeat(20)]);
});

test('one connection sends no more packets than its address may, also to namespaces that do not exist', async () => {
  const packets = blockTagged(file, 'socket-io-packets');
  const replace = { [CONNECTION]: `${packets}\n${CONNECTION}`, "every: '1s'": "every: '1h'" };
  program = await startBlock(PAGE, 'socket-io', { modules, replace });
  const joins = repeat((i) => `40/x${i},`, /^0\{|^44/);
  await eventually(async () => joins.closed || joins.sent === MOST);
  // More follow while a decision is under way.
  expect([joins.closed, joins.sent > 100, program.output()]).toEqual([true, true, '']);
});

test('a kind of event that the client makes up costs as much as any other', async () => {
  const row = /^\| a limit for each kind of event \| `(events\.consume\(.*?)`/m;
  const replace = {
    '_event,': 'event,',
    'events.consume(address)': row.exec(readFileSync(file, 'utf8'))![1]!,
    "every: '1s'": "every: '1h'",
  };
  program = await startBlock(PAGE, 'socket-io', { modules, replace });
  const events = repeat((i) => (i === 0 ? '40' : `42${i}["constructor"]`), /^0\{|^40/);
  await eventually(async () => events.sent === 2);
  await new Promise((done) => setTimeout(done, 300));
  expect([events.closed, program.output()]).toEqual([false, '']);
});
