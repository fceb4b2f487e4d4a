import { ManualClock, memoryStore, subscribe } from '../../../packages/core/src/index.js';
import {
  closeSluice,
  configureSluice,
  createSluice,
  Limit,
  SkipLimit,
  SLUICE,
} from '../../../packages/decorators/src/index.js';
import { type RequestView, runWithRequest } from '../../../packages/http/src/index.js';
import { Rules } from '../../../packages/rules/src/index.js';

const DOCUMENT = `
name: texts
plans: { free: { perDay: 1 }, pro: { perDay: 3 } }
defaultPlan: free
rules:
  - name: sms
    key: '#{phone}'
    limit: { fixedWindow: { limit: 2, window: 1h } }
  - name: send
    key: '#{user.id}'
    plan: '#{user.plan}'
    cost: '#{1.parts}'
    limits: { perDay: { fixedWindow: { limit: $plan.perDay, window: 1d } } }
  - name: byRequest
    key: METHOD
    plan: '#{headers.x-plan}'
    limit: { fixedWindow: { limit: $plan.perDay, window: 1d } }
  - name: byUser
    key: USER
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: byAddress
    key: IP
    ipv6Subnet: 48
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: jobs
    key: METHOD
    limit: { concurrency: { limit: 1 } }
  - name: jobs-next
    mode: shadow
    compare: jobs
    limit: { concurrency: { limit: 2 } }
  - name: sms-next
    mode: shadow
    compare: sms
    limit: { fixedWindow: { limit: 1, window: 1h } }
`;

let rules: Rules;
beforeEach(() => {
  rules = new Rules(DOCUMENT, { store: memoryStore({ clock: new ManualClock() }) });
  configureSluice({ rules });
});
afterEach(async () => {
  await closeSluice();
  await rules.close();
  await rules.store.close();
});

class Sms {
  @Limit('sms')
  async send(phone: string) {
    return `to ${phone}`;
  }

  @Limit('sms', { key: '#{to}' })
  async again(text: string, to: string) {
    return text + to;
  }

  @Limit('send')
  async post(user: { id: string; plan?: string }, text: { parts?: number }) {
    return user.id + (text.parts ?? 1);
  }
}

const denial = (name: string, policy = name) => ({ status: 429, decision: { name, policy } });

test('@Limit applies the rule with its name, with a key from the arguments', async () => {
  const sms = new Sms();
  expect(await sms.send('1')).toBe('to 1');
  expect(await sms.again('hello ', '1')).toBe('hello 1');
  await expect(sms.send('1')).rejects.toMatchObject(denial('texts.sms'));
  await expect(sms.again('', '1')).rejects.toMatchObject(denial('texts.sms'));
  await sms.send('2');
  await rules.limiter('sms').reset('1');
  await sms.send('1');
});

test('plan and cost come from the arguments, and an unknown plan is the default plan', async () => {
  const sms = new Sms();
  await sms.post({ id: 'ann', plan: 'pro' }, { parts: 3 });
  await expect(sms.post({ id: 'ann', plan: 'pro' }, {})).rejects.toMatchObject(
    denial('texts.send', 'perDay'),
  );
  for (const plan of ['gold', undefined]) {
    const user = { id: `with ${plan}`, ...(plan !== undefined && { plan }) };
    await sms.post(user, {});
    await expect(sms.post(user, {})).rejects.toMatchObject({ decision: { limit: 1 } });
  }
});

test('an override of a key has priority over its plan', async () => {
  const sms = new Sms();
  const limiter = rules.limiter('send');
  const { perDay } = rules.limiter('send', 'pro').policies;
  await limiter.override('bob', { perDay: { ...perDay!, limit: 5 } as never }, { expiresIn: '1h' });
  await sms.post({ id: 'bob', plan: 'free' }, { parts: 5 });
  await expect(sms.post({ id: 'bob', plan: 'free' }, {})).rejects.toMatchObject({ decision: { limit: 5 } });
});

test('a change of the rules applies to the next call, and counts stay', async () => {
  const sms = new Sms();
  await sms.send('1');
  await sms.send('1');
  const version = DOCUMENT.replace('limit: 2, window', 'limit: 3, window');
  rules.replace(new Rules(version).ruleSet);
  await sms.send('1');
  await expect(sms.send('1')).rejects.toMatchObject(denial('texts.sms'));
});

test('the same call counts shadow rules that compare with the rule', async () => {
  const seen: string[] = [];
  const stop = subscribe('sluice:decision', ({ limiter, mode, result }) =>
    seen.push(`${limiter} ${mode} ${result}`),
  );
  const sms = new Sms();
  await sms.send('1');
  await sms.send('1');
  stop();
  expect(seen.sort()).toEqual([
    'texts.sms enforce allowed',
    'texts.sms enforce allowed',
    'texts.sms-next shadow allowed',
    'texts.sms-next shadow denied',
  ]);
});

test('the end of the method releases held permits, also of a shadow rule', async () => {
  let end = () => {};
  class Jobs {
    @Limit('jobs')
    async run() {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    }
  }
  const jobs = new Jobs();
  const first = jobs.run();
  await new Promise(setImmediate);
  await expect(jobs.run()).rejects.toMatchObject(denial('texts.jobs'));
  await expect(jobs.run()).rejects.toMatchObject(denial('texts.jobs'));
  end();
  await first;
  expect(await rules.limiter('jobs').peek('Jobs.run')).toMatchObject({ remaining: 1 });
  expect(await rules.limiter('jobs-next').peek('Jobs.run')).toMatchObject({ remaining: 2 });
});

test('a key of type USER reads the current request', async () => {
  class Orders {
    @Limit('byUser')
    async list() {
      return 'orders';
    }
  }
  const orders = new Orders();
  const request = { user: { id: 'ann' } } as RequestView as never;
  await runWithRequest(request, () => orders.list());
  await expect(runWithRequest(request, () => orders.list())).rejects.toMatchObject(denial('texts.byUser'));
  await expect(orders.list()).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION', status: 500 });
});

test('a rule counts a client by its own ipv6Subnet', async () => {
  class Orders {
    @Limit('byAddress')
    async list() {
      return 'orders';
    }
  }
  const from = (ip: string) => runWithRequest({ ip } as RequestView, () => new Orders().list());
  await from('2001:db8:1:1::1');
  await expect(from('2001:db8:1:2::1')).rejects.toMatchObject(denial('texts.byAddress'));
  await from('2001:db8:2:1::1');
  expect(await rules.limiter('byAddress').peek('2001:db8:1::/48')).toMatchObject({ remaining: 0 });
});

test('a plan from the request throws a server error without a request', async () => {
  class Plans {
    @Limit('byRequest')
    async list() {
      return 'orders';
    }
  }
  const plans = new Plans();
  await expect(plans.list()).rejects.toMatchObject({ code: 'SLUICE_KEY_RESOLUTION', status: 500 });
  const call = (headers: object) => runWithRequest({ headers } as never, () => plans.list());
  await call({});
  await expect(call({})).rejects.toMatchObject({ decision: { limit: 1 } });
  await call({ 'x-plan': 'pro' });
});

test('on a class each method has the limit by itself, and a method can skip the rule', async () => {
  @Limit('sms', { key: () => 'all' })
  class Texts {
    async one() {}
    async two() {}
    @SkipLimit('sms')
    async free() {}
  }
  const texts = new Texts();
  await texts.one();
  await texts.two();
  await texts.free();
  await expect(texts.one()).rejects.toMatchObject(denial('texts.sms'));
});

test('with a timeout a call waits for permits', async () => {
  class Waiting {
    @Limit('sms', { timeout: '2h', key: '#{0}' })
    async send(phone: string) {
      return phone;
    }
  }
  const clock = new ManualClock();
  const own = new Rules(DOCUMENT, { store: memoryStore({ clock }) });
  const waiting = Object.assign(new Waiting(), { [SLUICE]: createSluice({ rules: own }) });
  await waiting.send('1');
  await waiting.send('1');
  const third = waiting.send('1');
  await new Promise(setImmediate);
  await clock.advance('1h');
  expect(await third).toBe('1');
  await own.close();
  await own.store.close();
});

test('an unknown rule, an unknown argument and missing rules throw errors with the cause', async () => {
  class Wrong {
    @Limit('smss')
    async unknown() {}
    @Limit('sms')
    async nameless(_number: string) {}
  }
  const wrong = new Wrong();
  await expect(wrong.unknown()).rejects.toThrow('no rule "smss"; did you mean \'sms\'?');
  await expect(wrong.nameless('1')).rejects.toThrow(
    /@Limit on nameless: the key "#\{phone\}" uses 'phone', which is neither a parameter/,
  );
  configureSluice({});
  await expect(wrong.unknown()).rejects.toThrow(
    /'smss' is the name of a rule, and there are no rules: call configureSluice\(\{ rules: await loadRules/,
  );
  expect(() => configureSluice({ rules: 'limits.yaml' as never })).toThrow(
    /configureSluice: rules must be rules of @sluice\/rules: pass the result of loadRules .* not "limits.yaml"/,
  );
});

test('a call waits as long as its rule says, unless the decorator says otherwise', async () => {
  class Waiting {
    @Limit('sms', { key: '#{0}' })
    async send(phone: string) {
      return phone;
    }
    @Limit('sms', { key: '#{0}', timeout: 0 })
    async now(phone: string) {
      return phone;
    }
  }
  const clock = new ManualClock();
  const text =
    'rules: [{ name: sms, timeout: 2h, key: [USER, IP], limit: { fixedWindow: { limit: 1, window: 1h } } }]';
  const own = new Rules(text, { store: memoryStore({ clock }) });
  const waiting = Object.assign(new Waiting(), { [SLUICE]: createSluice({ rules: own }) });
  await waiting.send('1');
  await expect(waiting.now('1')).rejects.toMatchObject({ status: 429 });
  const second = waiting.send('1');
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance('1h');
  expect(await second).toBe('1');
  await own.close();
});

test.each<[string, object, RegExp]>([
  ['sms', { limitType: 'IP' }, /@Limit has no option 'limitType': belongs to the rule/],
  ['sms', { policy: {} }, /@Limit has no option 'policy': belongs to the rule/],
  ['sms', { cost: 2 }, /@Limit has no option 'cost': belongs to the rule/],
  ['sms', { key: 5 }, /@Limit: key must be a string, a list of keys or a function, not 5/],
  ['sms', { key: 'phone' }, /"phone" has no expression/],
  ['sms', { timeout: 'soon' }, /@Limit: timeout/],
  ['sms', { params: 'phone' }, /params must list the names/],
  ['s m s', {}, /@Limit: the name of a rule must be .* not "s m s"/],
  ['', {}, /@Limit: the name of a rule must be/],
])("@Limit('%s', %j) throws at decoration", (name, options, message) => {
  expect(() => Limit(name, options)).toThrow(message);
});
