export const LIMITER = 'sluice.limiter';
export const POLICY = 'sluice.policy';
export const RESULT = 'sluice.result';
export const SOURCE = 'sluice.source';
export const MODE = 'sluice.mode';
export const STORE = 'sluice.store';
export const NODE = 'sluice.node';
export const STATE = 'sluice.state';
export const UPSTREAM = 'sluice.upstream';
export const SCOPE = 'sluice.scope';
export const KIND = 'sluice.kind';
export const METER = 'sluice.meter';
export const AXIS = 'sluice.axis';
/** A code or a class name. Its message may contain a key. */
export const ERROR_TYPE = 'error.type';

/** The name in OpenTelemetry's conventions for an error without a name. */
const UNNAMED = '_OTHER';

/** The code of an error, or its class. */
export function errorType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return UNNAMED;
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && code !== '') return code;
  return typeof name === 'string' && name !== '' ? name : UNNAMED;
}

/** The first names that it receives. Every later name becomes `rest`: names can come from requests, and each is a time series. */
export class BoundedNames {
  readonly #names = new Set<string>();

  constructor(
    private readonly most: number,
    readonly rest = 'other',
  ) {}

  fold(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.most) return this.rest;
    this.#names.add(name);
    return name;
  }
}

/** The most error types with their own time series. */
const ERROR_TYPES = 30;

/** The most axes of budgets with their own time series. */
const AXES = 100;

/** The names that are attributes of metrics, each bounded. */
export class AttributeNames {
  readonly limiters: BoundedNames;
  readonly axes = new BoundedNames(AXES);
  readonly errors = new BoundedNames(ERROR_TYPES, UNNAMED);

  constructor(maxLimiters: number) {
    this.limiters = new BoundedNames(maxLimiters);
  }

  errorType(error: unknown): string | undefined {
    return error === undefined ? undefined : this.errors.fold(errorType(error));
  }
}
