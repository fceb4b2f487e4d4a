const { legacyDecorators = false } = globalThis as { legacyDecorators?: boolean };

// biome-ignore lint/suspicious/noExplicitAny: one function for two dialects
const record: any = (_method: unknown, where: unknown) => {
  seen.push(typeof where);
};
const seen: string[] = [];

test('files named *.dialects.test.ts are compiled with the decorators of their project', () => {
  class Service {
    @record
    handle(): void {}
  }
  new Service().handle();
  expect(seen).toEqual([legacyDecorators ? 'string' : 'object']);
});
