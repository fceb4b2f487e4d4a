import 'reflect-metadata';
import { EventEmitter } from 'node:events';

const seen: unknown[] = [];

function record(target: object, name: string, descriptor: PropertyDescriptor): void {
  seen.push(typeof descriptor.value, Reflect.getMetadata('design:paramtypes', target, name));
}

class Service {
  @record
  handle(emitter: EventEmitter, times: number): number {
    return emitter.listenerCount('x') + times;
  }
}

// An import that is turned into a type-only one would leave Object here, and frameworks that inject by type would break.
test('files named *.legacy.* are compiled with the older decorators and their metadata', () => {
  expect(new Service().handle(new EventEmitter(), 1)).toBe(1);
  expect(seen).toEqual(['function', [EventEmitter, Number]]);
});
