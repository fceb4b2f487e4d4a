import { Agent, createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ManualClock, memoryStore } from '../../../packages/core/src/index.js';
import { RequestLimit } from '../../../packages/http/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';
import { type LoggedRequest, type Nginx, startNginx } from '../../support/nginx.js';
import { deciding } from '../../support/open-response.js';
import { configOf } from './configs.js';
import { LimitReqModel, limitsOf, ordersOf } from './limit-req.js';

// Compares the decisions of a real nginx, by its log, with those of the page's rules at the same moments.

const before = configOf('nginx', 'Before');
const CLIENTS = 16;
/** Concurrent requests, with or without an API key; then a pause, ms. */
const BURSTS = [
  [26, false, 350],
  [6, false, 250],
  [4, true, 450],
  [9, true, 350],
  [3, false, 0],
] as const;

let upstream: Server;
let nginx: Nginx;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  upstream = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => upstream.once('listening', resolve));
  const { port } = upstream.address() as AddressInfo;
  nginx = await startNginx(before.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`));
}, 180_000);
afterAll(async () => {
  agent.destroy();
  await nginx?.stop();
  upstream.closeAllConnections();
  upstream.close();
});

function request(headers: Record<string, string>, path = '/api/orders'): Promise<number> {
  return new Promise((resolve, reject) => {
    get(nginx.url + path, { agent, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode!));
    }).once('error', reject);
  });
}

interface Recorded {
  readonly at: number;
  readonly burst: number;
  readonly key: string;
  readonly allowed: boolean;
}

/** The requests of a client in the order in which nginx handled them. Requests of one burst are alike. */
function recordedOf(log: readonly LoggedRequest[], client: number): Recorded[] {
  const own = log.flatMap(({ at, status, request: text }) => {
    const [from, burst] = text.split('.').map(Number);
    return from === client ? [{ at, burst: burst!, allowed: status === 200 }] : [];
  });
  own.sort((a, b) => a.burst - b.burst || a.at - b.at || Number(b.allowed) - Number(a.allowed));
  return own.map(({ at, burst, allowed }) => ({
    at,
    burst,
    allowed,
    key: BURSTS[burst]![1] ? `key-${client}` : '',
  }));
}

const start = 1_000_000;
/** Time by which a request is moved, ms. */
type Shift = (i: number, burst: number, isFirst: boolean) => number;

/** The decisions of the page's rules at those moments. */
async function byRules(recorded: readonly Recorded[], shift: Shift): Promise<boolean[]> {
  const clock = new ManualClock(start);
  const store = memoryStore({ clock });
  const rules = new Rules(configOf('nginx', 'With Sluice'), { store });
  const decide = deciding(new RequestLimit<[]>('rateLimit', { rules, validate: false }));
  const allowed: boolean[] = [];
  let now = 0;
  for (const [i, { at, burst, key }] of recorded.entries()) {
    const isFirst = burst !== recorded[i - 1]?.burst;
    const next = Math.max(now, at - recorded[0]!.at + shift(i, burst, isFirst));
    await clock.advance(next - now);
    now = next;
    allowed.push((await decide(ordersOf('192.0.2.1', key)))!.allowed);
  }
  await rules.close();
  await store.close();
  return allowed;
}

function byModel(recorded: readonly Recorded[]): boolean[] {
  const [model, limits] = [new LimitReqModel(), limitsOf(before)];
  return recorded.map(({ at, key }) => model.request(at, limits, ['address', key]) !== undefined);
}

test('nginx and the rules of the page admit the same requests', async () => {
  const answers: number[] = [];
  for (const [burst, [count, hasKey, pause]] of BURSTS.entries()) {
    for (let client = 0; client < CLIENTS; client += 1) {
      const headers: Record<string, string> = {
        'X-Forwarded-For': `192.0.2.${client}`,
        'X-Request': `${client}.${burst}`,
        ...(hasKey && { 'X-Api-Key': `key-${client}` }),
      };
      answers.push(...(await Promise.all(Array.from({ length: count }, () => request(headers)))));
    }
    await sleep(pause);
  }
  const health = await Promise.all(Array.from({ length: 40 }, () => request({}, '/api/health')));
  expect(new Set(health)).toEqual(new Set([200]));
  expect(new Set(answers)).toEqual(new Set([200, 429]));
  const log = (await nginx.stop()).filter(({ request: text }) => text !== '-');
  expect(log).toHaveLength(answers.length);

  // nginx's clock has milliseconds, and its log uses another clock than its limits: both may decide otherwise about a request within
  // 2 ms of a permit. The comparison omits clients with such a request.
  const shifts: Shift[] = [
    () => 0,
    (i) => i % 3,
    (i) => ((i * 7) % 5) % 3,
    (_, burst) => (burst % 2) * 2,
    (_, burst) => (1 - (burst % 2)) * 2,
    (_i, _burst, isFirst) => (isFirst ? 2 : 0),
    (_i, _burst, isFirst) => (isFirst ? 0 : 2),
  ];
  let compared = 0;
  for (let client = 0; client < CLIENTS; client += 1) {
    const recorded = recordedOf(log, client);
    const [exact, ...shifted] = await Promise.all(shifts.map((shift) => byRules(recorded, shift)));
    if (shifted.some((other) => other.join() !== exact!.join())) continue;
    compared += 1;
    const decided = recorded.map(({ allowed }) => allowed);
    expect([client, exact]).toEqual([client, decided]);
    expect([client, byModel(recorded)]).toEqual([client, decided]);
  }
  expect(compared).toBeGreaterThan(CLIENTS / 4);
}, 60_000);
