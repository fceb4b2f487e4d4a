import 'reflect-metadata';
import { fixedWindow, ManualClock, memoryStore } from '@sluice/core';
import { type RequestView, runWithRequest } from '@sluice/http';
import { tag } from '../tests/tag.js';
import { CountLimit, configureSluice, Limit, RateLimit, SkipLimit, skipsLimit } from './index.js';

@CountLimit({ period: 60 })
class OfClass {
  readonly runs: string[] = [];
  readonly arrow = () => 'arrow';

  #run(name: string): string {
    this.runs.push(name);
    return name;
  }

  #secret() {
    return 'secret';
  }

  async list() {
    return this.#run('list');
  }

  async find(id: string) {
    return this.#run(`find ${id}`);
  }

  @CountLimit({ limit: 2, period: 60 })
  async own() {
    return this.#run('own');
  }

  @RateLimit({ rate: 5 })
  async both() {
    return this.#run('both');
  }

  @SkipLimit()
  skipped() {
    return this.#run('skipped');
  }

  plain() {
    return this.#run('plain');
  }

  @tag
  async tagged(text: string, times: number): Promise<unknown[]> {
    return [this, text, times];
  }

  get size() {
    return 1;
  }

  @SkipLimit()
  secret() {
    return this.#secret();
  }

  toJSON() {
    return 'json';
  }

  toString() {
    return 'text';
  }

  *[Symbol.iterator]() {
    yield 1;
  }

  static atClass() {
    return 'atClass';
  }
}

class Derived extends OfClass {
  override async list() {
    return super.list();
  }

  override async find(id: string) {
    return id;
  }
}

@Limit({ policy: fixedWindow({ limit: 1, window: '1m' }), prefix: 'shared', limitType: 'IP' })
class Shared {
  async a() {}
  async b() {}
}

@CountLimit({ period: 60 })
@CountLimit({ limit: 2, period: 86_400, prefix: 'day' })
class Twice {
  // A class with a private constructor can also be decorated.
  private constructor() {}
  static make = () => new Twice();
  async a() {}
  async b() {}
}

const denied = (name: string) => ({ status: 429, decision: { name } });
let clock: ManualClock;
let demo: OfClass;

beforeEach(() => {
  clock = new ManualClock();
  configureSluice({ store: memoryStore({ clock }) });
  demo = new OfClass();
});

test('each method has its own count, which all objects share', async () => {
  await expect(demo.list()).resolves.toBe('list');
  await expect(demo.find('7')).resolves.toBe('find 7');
  await expect(new OfClass().list()).rejects.toMatchObject(denied('countLimit:OfClass.list'));
  await expect(demo.find('8')).rejects.toMatchObject(denied('countLimit:OfClass.find'));
  expect(demo.runs).toEqual(['list', 'find 7']);
  await clock.advance('60s');
  await demo.list();
});

test("a method's own decorator replaces the same one of the class; another one applies as well", async () => {
  await demo.own();
  await demo.own();
  await expect(demo.own()).rejects.toMatchObject({
    decision: { name: 'countLimit:OfClass.own', limit: 2 },
  });
  await demo.both();
  await expect(demo.both()).rejects.toMatchObject(denied('countLimit:OfClass.both'));
});

test('a limited method returns a promise; @SkipLimit() leaves a method unchanged', async () => {
  const answer: unknown = demo.plain();
  expect(answer).toBeInstanceOf(Promise);
  await expect(answer).resolves.toBe('plain');
  await expect(demo.plain()).rejects.toMatchObject(denied('countLimit:OfClass.plain'));
  for (let i = 0; i < 3; i++) expect(demo.skipped()).toBe('skipped');
  expect(skipsLimit(OfClass.prototype.skipped)).toBe(true);
  expect(skipsLimit(OfClass.prototype.plain)).toBe(false);
});

test('statics, accessors, fields, private methods and methods that JavaScript calls are not limited', () => {
  for (let i = 0; i < 2; i++) {
    expect(OfClass.atClass()).toBe('atClass');
    expect(demo.size).toBe(1);
    expect(demo.arrow()).toBe('arrow');
    expect(demo.secret()).toBe('secret');
    expect(JSON.stringify(demo)).toBe('"json"');
    expect(String(demo)).toBe('text');
    expect([...demo]).toEqual([1]);
  }
});

test('a limited method keeps its name, length, this, properties, metadata and flags', async () => {
  const { tagged } = OfClass.prototype;
  expect(tagged.name).toBe('tagged');
  expect(tagged).toHaveLength(2);
  expect(tagged).toHaveProperty('tag', 'own');
  expect(Reflect.getOwnMetadata('route', tagged)).toBe('/tagged');
  await expect(demo.tagged('x', 1)).resolves.toEqual([demo, 'x', 1]);
  expect(Object.getOwnPropertyDescriptor(OfClass.prototype, 'tagged')).toMatchObject({
    enumerable: false,
    configurable: true,
    writable: true,
  });
});

test('an inherited method is limited, an overriding method is not', async () => {
  const derived = new Derived();
  await derived.own();
  await demo.own();
  await expect(derived.own()).rejects.toMatchObject(denied('countLimit:OfClass.own'));
  await derived.list(); // calls super.list()
  await expect(derived.list()).rejects.toMatchObject(denied('countLimit:OfClass.list'));
  await derived.find('1');
  await derived.find('1');
});

test('a prefix gives all methods one count for each key', async () => {
  const shared = new Shared();
  const from = (ip: string, work: () => Promise<void>) => runWithRequest({ ip } as RequestView, work);
  await from('192.0.2.1', () => shared.a());
  await expect(from('192.0.2.1', () => shared.b())).rejects.toMatchObject(denied('shared'));
  await from('192.0.2.2', () => shared.b());
});

test('several limits of one class all apply', async () => {
  const twice = Twice.make();
  await twice.a();
  await twice.b();
  await expect(twice.a()).rejects.toMatchObject(denied('countLimit:Twice.a'));
  await clock.advance('60s');
  await twice.a();
  await clock.advance('60s');
  await expect(twice.a()).rejects.toMatchObject(denied('day'));
});
