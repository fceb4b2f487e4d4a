/**
 * The quotient of two whole numbers below 2^53, rounded up. It is exact: a quotient that is not whole is at least 1 / b away from
 * the next whole number, and rounding to a double moves it by less. The remainder, `%`, takes ten times as long.
 */
export const up = (a: number, b: number): number => Math.ceil(a / b);

/** The same, rounded down. */
export const down = (a: number, b: number): number => Math.floor(a / b);
