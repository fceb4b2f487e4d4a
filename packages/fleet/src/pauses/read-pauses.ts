import type { PauseMessage } from '@sluice/core';
import { type LimiterDefinition, MOST_BYTES } from '@sluice/core/internal';
import { fields, HOST, LATEST, list, NAME, number, oneOf, readText, text, whole } from '../checked-text.js';
import { limiterText } from '../definitions/parse-definitions.js';
import type { Published } from '../definitions/read-definitions.js';
import { type LeftOut, readNotes } from '../definitions/read-notes.js';

/** Why an upstream of `@sluice/outgoing` is paused, by the process that got the response. Moments are ms since 1970, by its clock. */
export interface NotedPause {
  /** How far it reaches. */
  readonly scope: PauseMessage['scope'];
  /** Under which it is stored, by the limiter of the upstream. */
  readonly key: string;
  readonly kind: PauseMessage['kind'];
  /** In the words of the service. */
  readonly reason: string;
  /** Of the response that said so. */
  readonly status: number;
  /** The header of that response that stated the time; '' without one. */
  readonly header: string;
  readonly since: number;
  readonly until: number;
  /** Does the store have it? Otherwise only this process pauses. */
  readonly stored: boolean;
}

/** An upstream of a process. */
export interface NotedUpstream {
  readonly name: string;
  /** Whose blocked keys are the pauses. */
  readonly limiter: LimiterDefinition;
  readonly pauses: readonly NotedPause[];
}

/** A process that has paused upstreams. */
export interface PausingProcess {
  /** Random id of its store object. */
  readonly process: string;
  /** ms since it published them. */
  readonly age: number;
  readonly host: string;
  readonly pid: number;
  readonly upstreams: readonly NotedUpstream[];
}

/** The form that this version writes. */
const FORM = 1;

const pause = fields<NotedPause>({
  scope: oneOf('endpoint', 'dimension', 'account', 'upstream'),
  key: text(/./s), // a key is never empty
  kind: oneOf('limit', 'quota', 'overload', 'exhausted', 'unknown'),
  reason: text(),
  status: whole(999),
  header: text(),
  since: number(LATEST),
  until: number(LATEST),
  stored: oneOf(true, false),
});

const noted = fields<Omit<PausingProcess, 'process' | 'age'>>({
  host: text(HOST),
  pid: number(),
  upstreams: list(
    fields<NotedUpstream>({ name: text(NAME), limiter: limiterText, pauses: list(pause, 1000) }),
  ),
});

/**
 * Why upstreams are paused, by each process that paused one in the last hour, the latest first. The store has the pauses themselves: a pause that
 * has become longer, or was ended, is still in the text of the process that began it.
 * @param leftOut gets each text that cannot be read
 * @throws TypeError if the store has no notice board; StoreUnavailableError, StoreConfigurationError
 */
export async function readPauses(
  store: Published,
  leftOut: (note: LeftOut) => void = () => {},
): Promise<readonly PausingProcess[]> {
  if (store.fleet === undefined)
    throw new TypeError('readPauses: this store has no notice board. Use memoryStore() or redisStore(…)');
  const notes = await readNotes(
    store.fleet,
    'pauses',
    (given) => readText(given, MOST_BYTES, noted, FORM),
    leftOut,
  );
  return notes.map(({ process, age, value }) => ({ process, age, ...value }));
}
