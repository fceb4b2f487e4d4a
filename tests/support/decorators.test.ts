function shout(method: () => string, context: ClassMethodDecoratorContext) {
  return function (this: unknown) {
    return `${String(context.name)}: ${method.call(this)}`;
  };
}

class Greeter {
  #name = 'Ann';

  @shout
  greet(): string {
    return this.#name;
  }
}

test('files are compiled with the standard decorators', () => {
  expect(new Greeter().greet()).toBe('greet: Ann');
});
