import { AsyncLocalStorage } from 'node:async_hooks';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/** The modules that test files of this process have loaded. Without a script, Jest compiles the module itself. */
const scripts = new Map<string, { code: string; script: vm.Script | undefined }>();
const compileFunction = vm.compileFunction;

/** Jest has to know which test file a dynamic import belongs to. */
function scriptOf(code: string, params: readonly string[], filename: string): vm.Script | undefined {
  if (/\bimport\s*\(/.test(code)) return undefined;
  const head = `(function (${params.join(', ')}) {`;
  return new vm.Script(`${head}${code}\n})`, { filename, columnOffset: -head.length });
}

// Jest compiles each module again for each test file that loads it: a quarter of the time. A script is compiled once and runs in any context.
vm.compileFunction = ((code: string, params: readonly string[], options: vm.CompileFunctionOptions) => {
  const { filename, parsingContext } = options;
  if (filename === undefined || parsingContext === undefined) return compileFunction(code, params, options);
  let known = scripts.get(filename);
  if (known?.code !== code) {
    known = { code, script: scriptOf(code, params, filename) };
    scripts.set(filename, known);
  }
  return known.script?.runInContext(parsingContext) ?? compileFunction(code, params, options);
}) as typeof vm.compileFunction;

/** In the process of the test files, which all use them. */
const used = new Set<AsyncLocalStorage<unknown>>();

for (const name of ['run', 'enterWith'] as const) {
  const original = AsyncLocalStorage.prototype[name] as (...args: unknown[]) => unknown;
  Object.defineProperty(AsyncLocalStorage.prototype, name, {
    value(this: AsyncLocalStorage<unknown>, ...args: unknown[]) {
      used.add(this);
      return Reflect.apply(original, this, args);
    },
    writable: true,
    configurable: true,
  });
}

/**
 * Ends the storages of a test file with it. Node.js below 24 copies the value of every `AsyncLocalStorage` that was ever used to each new
 * promise: after a hundred test files that takes a tenth of the time.
 */
export default class Environment extends TestEnvironment {
  override async teardown(): Promise<void> {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
}
