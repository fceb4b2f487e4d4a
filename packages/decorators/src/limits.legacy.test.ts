import 'reflect-metadata';
import { EventEmitter } from 'node:events';
import { CountLimit } from './index.js';

test('a decorated method keeps design:paramtypes and its property flags', () => {
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
