import 'reflect-metadata';
import { ManualClock, memoryStore, type RequestView } from '@sluice/core';
import { runWithRequest } from '@sluice/core/http';
import { configureSluice, skipsLimit } from '../src/index.js';

/** What both dialects' classes with limits of their own have. */
export interface OfClass {
  readonly runs: string[];
  list(): Promise<string>;
  find(id: string): Promise<string>;
  /** Has a `@CountLimit` of its own: 2. */
  own(): Promise<string>;
  /** Has a `@RateLimit` of its own: 5. */
  both(): Promise<string>;
  /** Has `@SkipLimit()`. */
  skipped(): string;
  /** Not async. */
  plain(): string;
  /** Tagged as frameworks tag methods. */
  tagged(text: string, times: number): Promise<unknown[]>;
  readonly size: number;
  readonly arrow: () => string;
  secret(): string;
  toJSON(): string;
  toString(): string;
  [Symbol.iterator](): Iterator<number>;
}

export interface Shared {
  a(): Promise<void>;
  b(): Promise<void>;
}

export interface Classes {
  /** `@CountLimit({ period: 60 })`. */
  OfClass: { new (): OfClass; atClass(): string };
  /** Extends `OfClass`, without a limit of its own: `list` calls `super.list()`, `find` does not. */
  Derived: new () => OfClass;
  /** `@Limit` with a prefix, for each address. */
  Shared: new () => Shared;
  /** `@CountLimit` twice: once a minute, twice a day. */
  makeTwice: () => Shared;
}

/** Limits on classes, whatever the dialect. */
export function classSuite({ OfClass, Derived, Shared, makeTwice }: Classes): void {
  const denied = (name: string) => ({ status: 429, decision: { name } });
  let clock: ManualClock;
  let demo: OfClass;

  beforeEach(() => {
    clock = new ManualClock();
    configureSluice({ store: memoryStore({ clock }) });
    demo = new OfClass();
  });

  test('each method has a count of its own, common to all objects', async () => {
    await expect(demo.list()).resolves.toBe('list');
    await expect(demo.find('7')).resolves.toBe('find 7');
    await expect(new OfClass().list()).rejects.toMatchObject(denied('countLimit:OfClass.list'));
    await expect(demo.find('8')).rejects.toMatchObject(denied('countLimit:OfClass.find'));
    expect(demo.runs).toEqual(['list', 'find 7']);
    await clock.advance('60s');
    await demo.list();
  });

  test('a method with the same decorator has that limit instead; with another, both', async () => {
    await demo.own();
    await demo.own();
    await expect(demo.own()).rejects.toMatchObject({
      decision: { name: 'countLimit:OfClass.own', limit: 2 },
    });
    await demo.both();
    await expect(demo.both()).rejects.toMatchObject(denied('countLimit:OfClass.both'));
  });

  test('all that is limited returns a promise; @SkipLimit() leaves a method as it is', async () => {
    const answer: unknown = demo.plain();
    expect(answer).toBeInstanceOf(Promise);
    await expect(answer).resolves.toBe('plain');
    await expect(demo.plain()).rejects.toMatchObject(denied('countLimit:OfClass.plain'));
    for (let i = 0; i < 3; i++) expect(demo.skipped()).toBe('skipped');
    expect(skipsLimit(OfClass.prototype.skipped)).toBe(true);
    expect(skipsLimit(OfClass.prototype.plain)).toBe(false);
  });

  test('statics, accessors, fields, private methods and what the language calls stay as they are', () => {
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

  test('name, length, this, own properties, metadata and flags of a method stay', async () => {
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

  test('subclasses: what they inherit is limited, what they override is their own', async () => {
    const derived = new Derived();
    await derived.own();
    await demo.own();
    await expect(derived.own()).rejects.toMatchObject(denied('countLimit:OfClass.own'));
    await derived.list(); // calls super.list()
    await expect(derived.list()).rejects.toMatchObject(denied('countLimit:OfClass.list'));
    await derived.find('1');
    await derived.find('1');
  });

  test('a prefix makes one count of all methods for each key', async () => {
    const shared = new Shared();
    const from = (ip: string, work: () => Promise<void>) => runWithRequest({ ip } as RequestView, work);
    await from('192.0.2.1', () => shared.a());
    await expect(from('192.0.2.1', () => shared.b())).rejects.toMatchObject(denied('shared'));
    await from('192.0.2.2', () => shared.b());
  });

  test('several limits of one class', async () => {
    const twice = makeTwice();
    await twice.a();
    await twice.b();
    await expect(twice.a()).rejects.toMatchObject(denied('countLimit:Twice.a'));
    await clock.advance('60s');
    await twice.a();
    await clock.advance('60s');
    await expect(twice.a()).rejects.toMatchObject(denied('day'));
  });
}
