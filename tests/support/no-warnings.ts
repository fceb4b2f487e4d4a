// Loaded by Jest before each test file: a warning that no test expects is a failure, so that `npm test` prints none.
// A test that provokes one captures it (`expectingWarning`, or a spy on process.emitWarning) and asserts it.

/** Every test with an outage causes these; the tests of the warnings spy on them. */
const OF_OUTAGES = /^SLUICE_STORE_/;

const unexpected: string[] = [];

const emitWarning = process.emitWarning;
process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
  const [options] = rest as [{ code?: string; type?: string } | undefined];
  if (options?.type !== 'SluiceWarning') return Reflect.apply(emitWarning, process, [warning, ...rest]);
  if (!OF_OUTAGES.test(options.code ?? '')) unexpected.push(`${options.code}: ${warning}`);
}) as typeof process.emitWarning;

for (const level of ['warn', 'error'] as const) {
  console[level] = (...args: unknown[]) => {
    unexpected.push(`console.${level}: ${args.map(String).join(' ')}`);
  };
}

afterEach(() => {
  expect(unexpected.splice(0)).toEqual([]);
});
