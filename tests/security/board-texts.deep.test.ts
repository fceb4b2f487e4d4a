import { followDenials, type LeftOut, readDefinitions, readPauses, readUsage } from '@sluice/fleet';
import type { Context } from '../../packages/cli/src/command.js';
import { explain } from '../../packages/cli/src/commands/explain.js';
import { inspect } from '../../packages/cli/src/commands/inspect.js';
import { ls } from '../../packages/cli/src/commands/ls.js';
import { stats } from '../../packages/cli/src/commands/stats.js';
import { top } from '../../packages/cli/src/commands/top.js';
import { denialJson, denialLine } from '../../packages/cli/src/denial-line.js';
import { fleetOf } from '../../packages/cli/src/fleet.js';
import { Notes } from '../../packages/cli/src/notes.js';
import { Output } from '../../packages/cli/src/output.js';
import { nextSteps } from '../../packages/cli/src/status/next.js';
import { render } from '../../packages/cli/src/status/render.js';
import { readState } from '../../packages/cli/src/status/state.js';
import { fixedWindow, memoryStore, type Store } from '../../packages/core/src/index.js';
import { Denials } from '../../packages/dashboard/src/denials.js';
import { Limiters } from '../../packages/dashboard/src/limiters.js';
import { Unread } from '../../packages/dashboard/src/unread.js';
import { usageOf } from '../../packages/dashboard/src/usage.js';
import { CallCounter } from '../../packages/fleet/src/usage/call-counter.js';
import { StoreUsage } from '../../packages/fleet/src/usage/store-usage.js';
import { like } from '../support/like.js';

// Other programs may write to the Redis of the limits, so readers of the notice board check every field.

const policy = fixedWindow({ limit: 5, window: '1h' });
const limiter = (name: string) => ({
  kind: 'limiter',
  name,
  keyPrefix: 'sluice',
  policies: { [name]: policy },
  several: false,
  prefixes: { [name]: `sluice:v2:fw:${name}:{` },
  suffix: '}',
});
const escalate = { after: 3, within: '1h', block: ['1m', '1h'], forgive: '1d' };
const definitions = {
  version: '1.0.0',
  layout: 'v2',
  host: 'web-1',
  pid: 7,
  omitted: 1,
  limiters: [
    {
      ...limiter('api'),
      ...{ hashTag: 't', key: 'IP', prefetch: true, escalate },
      plans: { free: { policies: { api: policy }, escalate } },
    },
    {
      ...limiter('both'),
      kind: 'combined',
      policies: {},
      prefixes: {},
      members: { ip: 'api', user: 'login' },
    },
    { ...limiter('all'), kind: 'shared', policies: {}, prefixes: {}, rate: 'sluice:v2:shared:{all}:rate' },
  ],
  rules: [{ name: 'rules', source: 'limits.yaml', version: 3, fingerprint: 'f', problem: 'a problem' }],
};
const good = { ...definitions, host: 'good', limiters: [limiter('api'), limiter('good')], rules: [] };

const denial = {
  limiter: 'api',
  policy: 'api',
  key: 'ann',
  cost: 1,
  count: 2,
  age: 1,
  retryAfter: 5,
  source: 'redis',
};
const report = {
  ...{ form: 1, host: 'web-1', pid: 7, omitted: 0 },
  denials: [denial, { ...denial, retryAfter: null, shadow: true, degraded: true }],
  calls: { count: 1, p50: 1, p99: 1 },
};

const HOUR = 3_600_000;
const pause = {
  scope: 'account',
  key: 'account:',
  kind: 'limit',
  reason: 'HTTP 429',
  status: 429,
  header: 'Retry-After: 60',
  ...{ since: Date.now(), until: Date.now() + HOUR, stored: false },
};
const upstreams = (name: string) => [
  { name, limiter: { ...limiter(`${name}:pauses`), hashTag: name }, pauses: [pause] },
];
const pauses = { form: 1, host: 'web-1', pid: 7, upstreams: upstreams('github') };

/** The text that a process with the option `usage` publishes. */
async function usageText(name: string): Promise<string> {
  let text = '';
  const publish = async (_: string, given: string) => {
    text = given;
    return true;
  };
  const usage = new StoreUsage('plain', { publish } as never, true);
  const counter = new CallCounter(usage, name);
  for (const result of ['allowed', 'denied', 'canceled', 'error', 'degraded'] as const)
    counter.count(result, false);
  counter.denied('ann', false);
  counter.denied('eve', true);
  counter.took('ann', 3);
  counter.used('ann', '', 0.5, false);
  await usage.publish();
  usage.close();
  return text;
}

const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
/** JSON to put in place of a field. */
const HOSTILE = [
  ...['null', 'true', '-1', '0.5', '1e300', '1e999', '""', '[]', '[null]', '{}', DEEP],
  ...['"\\u001b[2J\\n\\u009b\\u202e"', '"__proto__"', '"constructor"'],
  ...['{"toString":null}', '{"valueOf":1,"length":-1}', '{"__proto__":null}', '{"constructor":{"name":1}}'],
];

/** Each field of a value, and each item of its lists, dropped or replaced. */
function* mutationsOf(value: unknown): Generator<string> {
  const text = (mark: unknown) => JSON.stringify(mark);
  const walk = function* (at: unknown, whole: (other: unknown) => unknown): Generator<string> {
    yield text(whole(undefined)) ?? '';
    for (const json of HOSTILE) yield text(whole('HERE')).replace('"HERE"', () => json);
    if (typeof at !== 'object' || at === null) return;
    for (const [name, inner] of Object.entries(at)) {
      const replaced = (other: unknown) =>
        whole(
          Array.isArray(at)
            ? at.map((one, i) => (String(i) === name ? other : one))
            : { ...at, [name]: other },
        );
      yield* walk(inner, replaced);
    }
    if (Array.isArray(at)) return;
    for (const name of ['__proto__', 'toString', '\u001b[2J'])
      yield text(whole(Object.fromEntries([...Object.entries(at), [name, 'HERE']]))).replace('"HERE"', DEEP);
  };
  yield* walk(value, (other) => other);
}

/** A store with texts that processes have published. */
const storeWith = (memory: Store, texts: { readonly [kind: string]: readonly string[] }): Store =>
  like(memory, {
    look: (part) => memory.look!(part),
    fleet: {
      ...memory.fleet!,
      read: async (kind: string) =>
        (texts[kind] ?? []).map((text, i) => ({ process: `p${i}`, age: 5, text })),
    } as never,
  });

async function run(command: typeof ls, store: Store, args: string[] = [], options = {}) {
  let [out, notes] = ['', ''];
  const output = new Output({ write: (text: string) => (out += text), columns: 300 }, false, {}, false);
  const context = {
    store,
    output,
    notes: new Notes({ write: (text: string) => (notes += text) }, {}),
    redis: { client: { pttl: async () => -2, time: async () => [0, 0] } },
    address: 'redis://127.0.0.1:6379',
    storeFlags: '',
    ask: async <T>(answer: Promise<T>) => answer,
  } as unknown as Context;
  const code = await command.run(context, args, options);
  const written = `${out}${notes}`.replaceAll('\n', '');
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(written)) throw new Error(`it commands the terminal: ${written}`);
  return { code, out, notes };
}

/** What `sluice` prints without a command, once it is connected. */
const glance: typeof ls = {
  ...ls,
  run: async (context) => {
    const state = await readState(context);
    context.output.lines(render(context, state, nextSteps(state, true)));
    return 0;
  },
};

let memory: ReturnType<typeof memoryStore>;
beforeAll(() => {
  memory = memoryStore();
});
afterAll(() => memory.close());

test('ls, explain, inspect and the live page skip a hostile definition and show the other limiters', async () => {
  const seen = new Set<string>();
  for (const text of mutationsOf(definitions)) {
    const store = storeWith(memory, { definitions: [JSON.stringify(good), text] });
    const leftOut: LeftOut[] = [];
    const read = JSON.stringify([await readDefinitions(store, (note) => leftOut.push(note)), leftOut]);
    // Many texts give the same result. Test each result once.
    if (seen.has(read)) continue;
    seen.add(read);
    const listed = await run(ls, store);
    expect(listed.out).toMatch(/^good +5 per 1 h/m);
    const limiters = new Limiters(store);
    expect((await limiters.list()).map(({ name }) => name)).toContain('good');
    const unread = new Unread();
    unread.published(limiters.leftOut);
    expect(JSON.stringify(unread.findings)).toMatch(leftOut.length === 0 ? /^\[\]$/ : /Of process p1: /);
    if (leftOut.length > 0) expect(listed.notes).toMatch(/^sluice: What process p1 published is left out: /);
    else expect((await run(ls, store, [], { processes: true })).out.match(/^\S*:\d/gm)).toHaveLength(2);
    expect((await run(explain, store, ['good', 'ann'], { cost: '1' })).out).toMatch(/^Yes: /);
    expect((await run(explain, store, ['api', 'ann'], { cost: '1' })).code).toBe(0);
    await run(inspect, store, ['ann'], { all: true });
    expect((await run(glance, store)).out).toMatch(/^good: /m);
    await limiters.close();
  }
  expect(seen.size).toBeGreaterThan(100);
});

test('ls skips a hostile text about pauses and shows the other upstreams', async () => {
  const others = JSON.stringify({ ...pauses, upstreams: upstreams('stripe') });
  const seen = new Set<string>();
  for (const text of mutationsOf(pauses)) {
    const store = storeWith(memory, { definitions: [JSON.stringify(good)], pauses: [others, text] });
    const leftOut: LeftOut[] = [];
    const read = JSON.stringify([await readPauses(store, (note) => leftOut.push(note)), leftOut]);
    if (seen.has(read)) continue;
    seen.add(read);
    const listed = await run(ls, store);
    expect(listed.out).toMatch(/^good +5 per 1 h/m);
    expect(listed.out).toMatch(/stripe/);
    if (leftOut.length > 0) expect(listed.notes).toMatch(/^sluice: What process p1 published is left out: /);
  }
  expect(seen.size).toBeGreaterThan(50);
});

test('top, stats and the live page skip a hostile usage text and show the other counts', async () => {
  const others = await usageText('good');
  const seen = new Set<string>();
  for (const text of mutationsOf(JSON.parse(await usageText('api')))) {
    const store = storeWith(memory, { definitions: [JSON.stringify(good)], usage: [others, text] });
    const read = JSON.stringify(await readUsage(store));
    if (seen.has(read)) continue;
    seen.add(read);
    const refused = (await readUsage(store)).refused.length > 0;
    const shown = await run(stats, store, [], { last: '15m' });
    expect(shown.out).toMatch(/^good /m);
    if (refused) expect(shown.notes).toMatch(/^sluice: What process p1 published is left out: it/);
    else expect(shown.notes).toBe('');
    expect((await run(glance, store)).out).toMatch(/^good: /m);
    const listed = await run(top, store, [], { most: '1000' });
    // A hostile text may have such high counts that only a long list shows the others.
    expect(listed.out).toMatch(/^good +ann +1$/m);
    const leftOut: LeftOut[] = [];
    const usage = await usageOf(store, await new Limiters(store).list(), (note) => leftOut.push(note));
    expect(Object.keys(usage!.limiters)).toContain('good');
    expect(leftOut.length > 0).toBe(refused);
  }
  expect(seen.size).toBeGreaterThan(50);
});

test('tail and the live page skip a hostile report and show the other denials', () => {
  let publish = (_: string): void => {};
  const fleet = {
    follow: ({ received }: { received(broadcast: object): void }) => {
      publish = (text) => received({ process: 'p1', time: 1_800_000_000_000, text });
    },
  };
  const denials = new Denials();
  const output = new Output({ write: () => true, columns: 300 }, false, {}, false);
  let [read, refused] = [0, 0];
  followDenials({ fleet: { ...fleet, feed: {} } } as never, {
    report: (given) => {
      read += 1;
      denials.add(given);
      for (const one of given.denials)
        if (/[^ -~…×]/.test(denialLine(output, one, given) + JSON.stringify(denialJson(one, given))))
          throw new Error('it commands the terminal');
      JSON.stringify([denials.after(0, new Map()), denials.reports, denials.roundTrip()]);
    },
    leftOut: ({ reason }) => {
      refused += 1;
      expect(reason).toMatch(/^its? /);
    },
  });
  let texts = 0;
  for (const text of mutationsOf(report)) {
    publish(text);
    texts += 1;
    expect(read + refused).toBe(texts);
    publish(JSON.stringify(report));
    texts += 1;
  }
  expect(Math.min(read, refused)).toBeGreaterThan(100);
});

test('sluice rules skips a hostile definition and shows the rules of the other processes', async () => {
  const source = { ...good, rules: [{ name: 'rules', source: 'good.yaml' }] };
  for (const text of mutationsOf({ ...good, rules: definitions.rules })) {
    const store = storeWith(memory, { definitions: [JSON.stringify(source), text] });
    const { processes } = await fleetOf({
      store,
      ask: (answer: unknown) => answer,
      notes: { leftOut() {} },
    } as never);
    const running = processes.flatMap((process) => process.rules ?? []);
    expect(running.map((one) => one.source)).toContain('good.yaml');
    for (const one of running)
      for (const field of Object.values(one)) expect(typeof field).toMatch(/string|number|undefined/);
  }
});
