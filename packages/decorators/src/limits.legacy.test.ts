import { EventEmitter } from 'node:events';
import { limitSuite, tag } from '../tests/limit-suite.js';
import { CountLimit, LimitType, RateLimit } from './index.js';

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

describe('legacy decorators', () => limitSuite(Demo));

test('design:paramtypes and the flags of the property stay', () => {
  class Injected {
    @CountLimit()
    async handle(_emitter: EventEmitter, _times: number): Promise<void> {}
  }
  expect(Reflect.getMetadata('design:paramtypes', Injected.prototype, 'handle')).toEqual([
    EventEmitter,
    Number,
  ]);
  expect(Object.getOwnPropertyDescriptor(Injected.prototype, 'handle')).toMatchObject({
    enumerable: false,
    configurable: true,
    writable: true,
  });
  const frozen = { value: async () => {}, enumerable: true, configurable: false, writable: false };
  expect(CountLimit()(Injected.prototype, 'frozen', frozen)).toEqual({
    ...frozen,
    value: expect.any(Function),
  });
});
