import fc from 'fast-check';

export const HOUR = 3_600_000_000;

/** Sometimes a closed limit. */
export const openOr = (open: fc.Arbitrary<number>) =>
  fc.oneof({ weight: 20, arbitrary: open }, { weight: 1, arbitrary: fc.constant(0) });
export const limit = openOr(fc.integer({ min: 1, max: 12 }));
/** ms */
export const period = fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: HOUR / 1000 }));
export const amount = openOr(fc.integer({ min: 1, max: 3_000 }));
export const every = fc.integer({ min: 1, max: 100_000 });
export const capacity = openOr(fc.integer({ min: 1, max: 12 }));
export const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** Leaves out absent values, as a user would. */
export const given = <T extends object>(options: T) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
