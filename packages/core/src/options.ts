const WINDOW =
  "numbers belong to a policy. Pass policy: fixedWindow({ limit: 100, window: '1m' }), for example";
const BUCKET =
  "numbers belong to a policy. Pass policy: tokenBucket({ capacity: 10, refill: 1, every: '1s' }), for example";
const WAIT = 'pass timeout: requests over the limit then wait for a permit';

/** Options of other rate limiters, and what a limit here takes instead. */
const FOREIGN_OPTIONS: Readonly<Record<string, string>> = {
  ...all('limit max points window windowMs timeWindow duration period ttl', WINDOW),
  ...all('capacity refill rate burst reservoir', BUCKET),
  ...all('delayAfter delayMs', WAIT),
  ...all('storeClient redis', 'pass store: redisStore(client), and a name'),
  ...all('insuranceLimiter passOnStoreError skipOnError', "pass failurePolicy: 'allow', 'deny' or 'local'"),
  minTime:
    'pass policy: leakyBucket({ capacity: 100, leak: 1, every: minTime }), and call acquire, schedule or wrap',
  maxConcurrent: 'pass policy: concurrency({ limit: maxConcurrent }), and call schedule or wrap',
  blockDuration: 'call limiter.block(key, duration) when a decision is denied',
  skipIf: 'pass skip',
  getTracker: 'pass keyGenerator',
};

function all(names: string, remedy: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, remedy]));
}

/**
 * @param remedies what to pass instead of an option that the caller's framework has elsewhere
 * @throws TypeError for an unknown option, so that a misspelt limit does not silently never apply
 */
export function checkOptions(
  where: string,
  options: unknown,
  accepted: readonly string[],
  remedies: Readonly<Record<string, string>> = {},
): void {
  if (!isRecord(options)) {
    // Rivals take the cost as a number.
    const meant =
      typeof options === 'number' && accepted.includes('cost') ? `; did you mean { cost: ${options} }?` : '';
    throw new TypeError(
      `${where} takes an options object (${accepted.join(', ')}), not ${describe(options)}${meant}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (accepted.includes(name)) continue;
    const known = accepted.includes('policy') ? { ...FOREIGN_OPTIONS, ...remedies } : remedies;
    const remedy = Object.hasOwn(known, name) ? `: ${known[name]}` : didYouMean(nearest(name, accepted));
    throw new TypeError(
      `${where} has no option '${name}'${remedy || `; its options are ${accepted.join(', ')}`}`,
    );
  }
}

/** Is it an object of values by name, and no array? */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Shorter words begin too many others. */
const STEM = 4;

/**
 * The accepted word that is nearest to `word`, if one is near: a few letters apart, or its stem, as `refill` is of `refillRate`.
 * @param part the part of the letters that may differ; more suits a short list
 */
export function nearest(word: string, accepted: Iterable<string>, part = 1 / 3): string | undefined {
  if (word.length > 100) return undefined;
  const most = Math.max(1, Math.floor(word.length * part));
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let stem: string | undefined;
  let least = most + 1;
  for (const candidate of accepted) {
    const other = candidate.toLowerCase();
    if (other.length >= Math.max(STEM, (stem?.length ?? 0) + 1) && wanted.startsWith(other)) stem = candidate;
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const distance = editDistance(wanted, other);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best ?? stem;
}

/** The end of a message: `; did you mean 'word'?`. Empty without a word. */
export const didYouMean = (word: string | undefined): string =>
  word === undefined ? '' : `; did you mean '${word}'?`;

/** Letters to insert, delete or replace; two neighbours that changed places count once. */
function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}

/** The options that are not undefined: an undefined one must not hide an inherited value. */
export const givenOptions = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

/** @throws RangeError naming the value unless it is a whole number from `min` to `max` */
export function checkInteger(
  what: string,
  value: unknown,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`${what} must be a whole number from ${min} to ${max}, not ${describe(value)}`);
  }
  return value;
}

/**
 * @param or other accepted values, for the message: `', true or false'`
 * @throws RangeError naming the value and the nearest word unless it is one of `words`
 */
export function checkOneOf<Word extends string>(
  what: string,
  value: unknown,
  words: readonly Word[],
  or = '',
): Word {
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  const list = words.length === 2 ? `'${words[0]}' or '${words[1]}'` : `one of ${words.join(', ')}`;
  const meant = typeof value === 'string' ? nearest(value, words) : undefined;
  throw new RangeError(`${what} must be ${list}${or}, not ${describe(value)}${didYouMean(meant)}`);
}

/** @throws TypeError naming the option unless it is true, false or undefined */
export function checkBoolean(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') {
    throw new TypeError(`${what} must be true or false, not ${describe(value)}`);
  }
}

/** @throws TypeError naming the option unless it is a function or undefined */
export function checkFunction(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') {
    throw new TypeError(`${what} must be a function, not ${describe(value)}`);
  }
}

/** The name of the one option that is set, or undefined. @throws TypeError naming two of them if more are set */
export function onlyOne<K extends string>(
  where: string,
  options: { readonly [name in K]?: unknown },
  names: readonly K[],
): K | undefined {
  const [one, other] = names.filter((name) => options[name] !== undefined);
  if (other !== undefined) throw new TypeError(`${where}: pass ${one} or ${other}, not both`);
  return one;
}

/** The error for an option that would be ignored. @param why such as `with dryRun: use onLimited` */
export const noEffect = (where: string, option: string, why: string): TypeError =>
  new TypeError(`${where}: ${option} has no effect ${why}`);

/** A value for an error message: short, and never the content of an object. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** `1 permit`, `3 permits`. */
export const count = (number: number, one: string, several = `${one}s`): string =>
  `${number} ${number === 1 ? one : several}`;

/** Characters of the longest name. */
export const LONGEST_NAME = 100;

const NAME = /^[\w.:/@#-]+$/;

/** Can it be a name in keys, headers and errors, such as the name of a limiter? */
export const isName = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LONGEST_NAME && NAME.test(value);

/** @throws TypeError unless `isName` */
export function checkName(what: string, value: unknown): void {
  if (!isName(value)) {
    throw new TypeError(
      `${what} must be 1 to ${LONGEST_NAME} letters, digits or . _ - : / @ #, not ${describe(value)}`,
    );
  }
}
