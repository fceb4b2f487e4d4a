import 'reflect-metadata';
import { isKeyResolutionError, isRateLimitExceededError, ManualClock, memoryStore } from '@sluice/core';
import { type RequestView, runWithRequest } from '@sluice/http';
import { tag } from '../tests/tag.js';
import { CountLimit, configureSluice, LimitType, RateLimit } from './index.js';

const bySymbol = Symbol('bySymbol');

class Demo {
  readonly runs: string[] = [];

  #run(name: string): string {
    this.runs.push(name);
    return name;
  }

  @RateLimit()
  async rate() {
    return this.#run('rate');
  }

  @CountLimit()
  async count() {
    return this.#run('count');
  }

  @RateLimit({ rate: 1 / 5, burst: 5, expire: 120, timeout: 0 })
  async everyFive(_key: string) {
    return this.#run('everyFive');
  }

  @CountLimit({ key: '#{key}', limit: 2, period: 10, limitType: 'CUSTOM' })
  async twoInTen(key: string) {
    return this.#run(`twoInTen ${key}`);
  }

  @CountLimit({ period: 0.5 })
  async half() {
    return this.#run('half');
  }

  @RateLimit({ timeout: 2 })
  async waits() {
    return this.#run('waits');
  }

  @CountLimit({ limitType: LimitType.IP })
  async byIp() {
    return this.#run('byIp');
  }

  @RateLimit({ limitType: LimitType.USER })
  async byUser() {
    return this.#run('byUser');
  }

  @CountLimit({ key: ['USER', '#{phone}', 'IP'] })
  async first(phone?: string) {
    return this.#run(`first ${phone}`);
  }

  @CountLimit({ key: '#{phone}', limitType: 'CUSTOM' })
  async phone(code: number, phone: string) {
    return this.#run(`phone ${code} ${phone}`);
  }

  @CountLimit({ key: '#{user.id}', limitType: 'CUSTOM' })
  async userId(user: { id: unknown }) {
    return this.#run(`userId ${user.id}`);
  }

  @RateLimit({ key: '#<user.id>', limitType: 'CUSTOM' })
  async angle(user: { id: unknown }) {
    return this.#run(`angle ${user.id}`);
  }

  @CountLimit({ key: '#{0}', limitType: 'CUSTOM' })
  async position(phone: string) {
    return this.#run(`position ${phone}`);
  }

  @RateLimit({ key: '#{params.phone}', rate: 1 / 60, burst: 60, expire: 120, limitType: 'CUSTOM' })
  async params(params: { phone: string }) {
    return this.#run(`params ${params.phone}`);
  }

  @CountLimit({ key: '#{phone}:#{code}', limitType: 'CUSTOM' })
  async destructured({ phone, nested: { code } }: { phone: string; nested: { code: number } }) {
    return this.#run(`destructured ${phone} ${code}`);
  }

  @CountLimit({ key: '#{others[0]}', limitType: 'CUSTOM' })
  async rest(first: string, ...others: string[]) {
    return this.#run(`rest ${first} ${others}`);
  }

  @CountLimit({ key: '#{query.phone}', limitType: 'CUSTOM' })
  async requestField() {
    return this.#run('requestField');
  }

  @CountLimit({ key: 'order:#{user.id}:#{1}', limitType: 'CUSTOM' })
  async several(user: { id: unknown }, code: number) {
    return this.#run(`several ${user.id} ${code}`);
  }

  @CountLimit({ prefix: 'shared:', limitType: 'IP' })
  async sharedA() {
    return this.#run('sharedA');
  }

  @CountLimit({ prefix: 'shared:', limitType: 'IP' })
  async sharedB() {
    return this.#run('sharedB');
  }

  @RateLimit({ key: '#{phone}', limitType: 'CUSTOM' })
  @CountLimit({ limit: 2 })
  async stacked(phone: string) {
    return this.#run(`stacked ${phone}`);
  }

  @CountLimit()
  async fails(): Promise<string> {
    throw new Error('of the method');
  }

  @CountLimit({ limit: 5 })
  @RateLimit({ rate: 5 })
  @tag
  async tagged(text: string, times: number): Promise<unknown[]> {
    return [this, text, times];
  }

  @CountLimit()
  async [bySymbol]() {
    return this.#run('bySymbol');
  }

  bySymbol() {
    return this[bySymbol]();
  }

  @CountLimit()
  static async atClass() {
    return `of ${Demo.name}`;
  }
}

let clock: ManualClock;
let demo: Demo;

beforeEach(() => {
  clock = new ManualClock();
  configureSluice({ store: memoryStore({ clock }) });
  demo = new Demo();
});

describe('the attributes', () => {
  test('RateLimit allows one call a second by default, and rejects the next at once', async () => {
    await expect(demo.rate()).resolves.toBe('rate');
    await expect(demo.rate()).rejects.toMatchObject({
      status: 429,
      decision: { name: 'rateLimit:Demo.rate', limit: 1, window: 1000, retryAfter: 1000 },
    });
    expect(demo.runs).toEqual(['rate']);
    await clock.advance('1s');
    await expect(demo.rate()).resolves.toBe('rate');
  });

  test('CountLimit allows one call in one second by default', async () => {
    await demo.count();
    await expect(demo.count()).rejects.toMatchObject({
      decision: { name: 'countLimit:Demo.count', limit: 1, window: 1000, retryAfter: 1000 },
    });
    await clock.advance('1s');
    await demo.count();
  });

  test("the starter's demo: rate 1/5 with a burst of 5 s allows one call each 5 s, for any key", async () => {
    await demo.everyFive('test');
    await clock.advance('4999ms');
    await expect(demo.everyFive('other')).rejects.toMatchObject({ retryAfter: 1 });
    await clock.advance('1ms');
    await demo.everyFive('test');
  });

  test("the starter's demo: two calls in 10 s pass for each key", async () => {
    await demo.twoInTen('a');
    await demo.twoInTen('a');
    await expect(demo.twoInTen('a')).rejects.toMatchObject({ decision: { window: 10_000 } });
    await demo.twoInTen('b');
    await clock.advance('10s');
    await demo.twoInTen('a');
  });

  test('a period can be half a second', async () => {
    await demo.half();
    await clock.advance('499ms');
    await expect(demo.half()).rejects.toMatchObject({ retryAfter: 1 });
    await clock.advance('1ms');
    await demo.half();
  });

  test('a call waits up to timeout for a permit; one that would wait longer rejects at once', async () => {
    await demo.waits();
    const second = demo.waits();
    const third = demo.waits();
    await expect(demo.waits()).rejects.toMatchObject({ retryAfter: 3000 });
    await clock.advance('999ms');
    expect(demo.runs).toHaveLength(1);
    await clock.advance('1ms');
    await second;
    expect(demo.runs).toHaveLength(2);
    await clock.advance('1s');
    await third;
  });

  test('a denial is an error that web frameworks turn into a 429 response', async () => {
    await demo.rate();
    const error = await demo.rate().catch((reason: unknown) => reason);
    expect(isRateLimitExceededError(error)).toBe(true);
    expect(error).toMatchObject({ status: 429, statusCode: 429, expose: true });
    expect(error).toMatchObject({ headers: { 'Retry-After': '1' } });
  });

  test('an error of the method is passed on, and its permit stays used', async () => {
    await expect(demo.fails()).rejects.toThrow('of the method');
    await expect(demo.fails()).rejects.toMatchObject({ status: 429 });
  });
});

describe('limit types', () => {
  const from = <T>(view: Partial<RequestView>, work: () => T): T => runWithRequest(view as RequestView, work);

  test('IP counts each client separately, in every spelling of its address', async () => {
    await from({ ip: '1.2.3.4' }, () => demo.byIp());
    await from({ ip: '1.2.3.5' }, () => demo.byIp());
    await expect(from({ ip: '::ffff:1.2.3.4' }, () => demo.byIp())).rejects.toMatchObject({ status: 429 });
    await from({ ip: '2001:db8::1' }, () => demo.byIp());
    await expect(from({ ip: '2001:db8::2' }, () => demo.byIp())).rejects.toMatchObject({ status: 429 });
  });

  test('USER counts by user.id, or by a user that is a plain value', async () => {
    await from({ user: { id: 7 } }, () => demo.byUser());
    await from({ user: { id: 8 } }, () => demo.byUser());
    await expect(from({ user: '7' }, () => demo.byUser())).rejects.toMatchObject({ status: 429 });
  });

  test('a list of keys counts by the first key that the call has', async () => {
    await from({ user: '1.2.3.4' }, () => demo.first());
    await from({ ip: '1.2.3.4' }, () => demo.first());
    await from({ ip: '1.2.3.4' }, () => demo.first('1.2.3.4'));
    await expect(from({ user: '1.2.3.4' }, () => demo.first('5'))).rejects.toMatchObject({ status: 429 });
    await expect(from({ ip: '1.2.3.4' }, () => demo.first(''))).rejects.toMatchObject({ status: 429 });
    await expect(from({ user: {} }, () => demo.first())).rejects.toMatchObject({ status: 500 });
  });

  test.each([undefined, null, {}, { id: null }, { id: {} }, ''])('USER rejects the user %p', async (user) => {
    const error = await from({ user }, () => demo.byUser()).catch((reason: unknown) => reason);
    expect(isKeyResolutionError(error)).toBe(true);
  });

  test('outside a request, the error for IP, USER and request fields names requestContext', async () => {
    for (const call of [demo.byIp(), demo.byUser(), demo.requestField()]) {
      await expect(call).rejects.toMatchObject({
        code: 'SLUICE_KEY_RESOLUTION',
        message: expect.stringContaining('requestContext'),
      });
    }
  });

  test.each<[string, (demo: Demo, value: string) => Promise<string>]>([
    ['#{phone}', (d, value) => d.phone(1, value)],
    ['#{user.id}', (d, value) => d.userId({ id: value })],
    ['#<user.id>', (d, value) => d.angle({ id: value })],
    ['#{0}', (d, value) => d.position(value)],
    ['#{params.phone}', (d, value) => d.params({ phone: value })],
    ['#{phone} of { phone }', (d, value) => d.destructured({ phone: value, nested: { code: 1 } })],
    ['#{others[0]} of ...others', (d, value) => d.rest('x', value)],
    [
      '#{query.phone} of the request',
      (d, value) => from({ query: { phone: value } }, () => d.requestField()),
    ],
    ['several', (d, value) => d.several({ id: value }, 5)],
  ])('CUSTOM %s counts each value separately', async (_, call) => {
    await call(demo, 'a');
    await call(demo, 'b');
    await expect(call(demo, 'a')).rejects.toMatchObject({ status: 429 });
  });

  test('a parameter takes precedence over a request field of the same name', async () => {
    await from({ user: { id: 'request' } }, () => demo.userId({ id: 'argument' }));
    await expect(demo.userId({ id: 'argument' })).rejects.toMatchObject({ status: 429 });
  });

  test.each([undefined, null, { id: undefined }, { id: '' }, { id: ['a'] }])(
    'for %p, the error of CUSTOM names the expression without a value',
    async (user) => {
      await expect(demo.userId(user as never)).rejects.toMatchObject({
        code: 'SLUICE_KEY_RESOLUTION',
        expression: '#{user.id}',
      });
      expect(demo.runs).toEqual([]);
    },
  );

  test('METHOD counts all objects of the class together', async () => {
    await demo.rate();
    await expect(new Demo().rate()).rejects.toMatchObject({ status: 429 });
  });
});

describe('shared limits', () => {
  test('methods with the same prefix and the same key share one limit', async () => {
    const as = (ip: string, work: () => Promise<string>) => runWithRequest({ ip } as RequestView, work);
    await as('1.1.1.1', () => demo.sharedA());
    await expect(as('1.1.1.1', () => demo.sharedB())).rejects.toMatchObject({
      decision: { name: 'shared' },
    });
    await as('2.2.2.2', () => demo.sharedB());
  });

  test('two limits on one method both apply, the upper one first', async () => {
    await demo.stacked('a');
    await expect(demo.stacked('a')).rejects.toMatchObject({ decision: { name: 'rateLimit:Demo.stacked' } });
    await demo.stacked('b');
    await expect(demo.stacked('c')).rejects.toMatchObject({
      decision: { name: 'countLimit:Demo.stacked' },
    });
  });
});

describe('a decorated method', () => {
  test('keeps its name, length, this, own properties and metadata', async () => {
    const { tagged } = Demo.prototype;
    expect(tagged.name).toBe('tagged');
    expect(tagged).toHaveLength(2);
    expect(tagged).toHaveProperty('tag', 'own');
    expect(Reflect.getOwnMetadata('route', tagged)).toBe('/tagged');
    await expect(demo.tagged('x' as never, 1 as never)).resolves.toEqual([demo, 'x', 1]);
  });

  test('can be static, or named by a symbol', async () => {
    await demo.bySymbol();
    await expect(demo.bySymbol()).rejects.toMatchObject({
      decision: { name: 'countLimit:Demo.@@bySymbol' },
    });
    await Demo.atClass();
    await expect(Demo.atClass()).rejects.toMatchObject({
      decision: { name: 'countLimit:Demo.atClass' },
    });
  });
});
