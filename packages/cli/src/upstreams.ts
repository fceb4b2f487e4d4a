import { getOrCreate, type LimiterDefinition } from '@sluice/core/internal';
import { type NotedPause, type PausingProcess, readPauses } from '@sluice/fleet';
import { CliError } from './cli-error.js';
import type { Context } from './command.js';
import { type Fleet, NOBODY, withKeys } from './fleet.js';
import { lookAt } from './key-report.js';
import { processText } from './text.js';
import { count, lengthOfMicros, momentOf, timeOf } from './words.js';

/** The end of the name of a limiter whose blocked keys are the pauses of an upstream; the rest is the name of the upstream. */
const PAUSES = ':pauses';
/** The key of an upstream as a whole: also a process that publishes nothing may have paused it. */
const WHOLE = 'upstream';
/** The most keys of an upstream that are looked at: those whose pauses end last. */
const MOST = 1000;
/** µs by which the clocks of a process and of the store may differ. A pause that ends much later than its text says has another cause. */
const SKEW = 10_000_000;

/** An upstream of @sluice/outgoing. */
export interface KnownUpstream {
  readonly name: string;
  readonly limiter: LimiterDefinition;
  /** The pauses in force, the longest first. */
  readonly pauses: readonly KnownPause[];
}

/** A pause in force. Moments are µs since 1970. */
export interface KnownPause extends Omit<NotedPause, 'since' | 'until' | 'kind'> {
  readonly upstream: string;
  readonly limiter: LimiterDefinition;
  /** `unknown`: no process has published why. */
  readonly kind: NotedPause['kind'];
  readonly since: number | undefined;
  readonly until: number;
  /** Time of the store's clock. */
  readonly now: number;
  /** The process that got the response: `shop-1:4711`. */
  readonly process: string | undefined;
  /** Other processes that also pause by themselves, for no longer; 0 for a pause in the store. */
  readonly others: number;
}

/** What a process has published of a pause. */
export interface Note {
  readonly pause: NotedPause;
  readonly by: PausingProcess;
}

/** A pause of a key in force, and the text that explains it. */
interface InForce {
  readonly note: Note | undefined;
  /** µs since 1970. */
  readonly until: number;
  readonly stored: boolean;
  readonly others: number;
}

/** The name of the upstream whose pauses a limiter has; undefined for any other limiter. */
const upstreamOf = ({ name, hashTag }: LimiterDefinition): string | undefined =>
  name.endsWith(PAUSES) && name.slice(0, -PAUSES.length) === hashTag ? hashTag : undefined;

/** The names of all upstreams among limiters. */
export const upstreamNames = (limiters: readonly LimiterDefinition[]): string[] =>
  limiters.flatMap((limiter) => upstreamOf(limiter) ?? []);

/** Upstreams of running processes, and those that were paused in the last hour, with the pauses that the store has now. */
export async function upstreamsOf(context: Context, fleet: Fleet): Promise<readonly KnownUpstream[]> {
  const processes = await context.ask(readPauses(context.store, context.notes.leftOut));
  // By the storage keys: two upstreams of one name may have different ones.
  const found = new Map<string, { name: string; limiter: LimiterDefinition; notes: Map<string, Note[]> }>();
  const add = (name: string, limiter: LimiterDefinition) => {
    const id = JSON.stringify(limiter.prefixes);
    const known = found.get(id) ?? { name, limiter, notes: new Map<string, Note[]>() };
    found.set(id, known);
    return known;
  };
  for (const { definition } of withKeys(fleet)) {
    const name = upstreamOf(definition);
    if (name !== undefined) add(name, definition);
  }
  for (const by of processes) {
    for (const { name, limiter, pauses } of by.upstreams) {
      const { notes } = add(name, limiter);
      for (const pause of pauses) getOrCreate(notes, pause.key, () => []).push({ pause, by });
    }
  }
  const looked = [...found.values()].map(async ({ name, limiter, notes }) => ({
    name,
    limiter,
    pauses: await pausesIn(context, name, limiter, notes),
  }));
  return (await Promise.all(looked)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function pausesIn(
  context: Context,
  upstream: string,
  limiter: LimiterDefinition,
  notes: ReadonlyMap<string, readonly Note[]>,
): Promise<readonly KnownPause[]> {
  const ends = [...notes].map(([key, all]) => ({ key, until: Math.max(...all.map(untilOf)) }));
  const last = ends.sort((one, other) => other.until - one.until).slice(0, MOST);
  const keys = new Set([WHOLE, ...last.map(({ key }) => key)]);
  const pauses = [...keys].map(async (key): Promise<readonly KnownPause[]> => {
    const { seen } = await lookAt(context, { definition: limiter, processes: [] }, key, 0);
    const [policy] = seen?.policies ?? [];
    if (seen === undefined || policy === undefined) return [];
    const { now } = seen;
    return inForce(notes.get(key) ?? [], policy.blockedUntil, now).map(({ note, ...pause }) => ({
      ...(note?.pause ?? unknownAt(key)),
      ...pause,
      upstream,
      limiter,
      since: note && note.pause.since * 1000,
      now,
      process: note && processText(note.by),
    }));
  });
  return (await Promise.all(pauses)).flat().sort((one, other) => other.until - one.until);
}

const untilOf = ({ pause }: Note): number => pause.until * 1000;

/** The pauses of one key: the one in the store, with the text of the process that wrote it, and one that outlasts it in some processes alone. */
export function inForce(notes: readonly Note[], blockedUntil: number, now: number): readonly InForce[] {
  const isStored = blockedUntil > now;
  const distance = (note: Note) => Math.abs(untilOf(note) - blockedUntil);
  const [nearest] = notes
    .filter(({ pause }) => pause.stored)
    .sort((one, other) => distance(one) - distance(other));
  const note = nearest !== undefined && distance(nearest) <= SKEW ? nearest : undefined;
  const alone = notes
    .filter((one) => !one.pause.stored && untilOf(one) > Math.max(now, blockedUntil))
    .sort((one, other) => untilOf(other) - untilOf(one));
  const [longest] = alone;
  return [
    ...(isStored ? [{ note, until: blockedUntil, stored: true, others: 0 }] : []),
    ...(longest ? [{ note: longest, until: untilOf(longest), stored: false, others: alone.length - 1 }] : []),
  ];
}

/** An operator, or a process that publishes nothing. */
const unknownAt = (key: string): NotedPause => ({
  scope: 'upstream',
  key,
  kind: 'unknown',
  reason: '',
  status: 0,
  header: '',
  since: 0,
  until: 0,
  stored: true,
});

/** The pauses that concern calls of a scope: its own, wider and narrower ones. Without a scope all. */
export const concerning = (
  pauses: readonly KnownPause[],
  scope: string | undefined,
): readonly KnownPause[] =>
  scope === undefined
    ? pauses
    : pauses.filter(
        ({ key }) =>
          key === WHOLE || key === scope || key.startsWith(`${scope}:`) || scope.startsWith(`${key}:`),
      );

/** @throws CliError if no process has an upstream of that name */
export function upstreamNamed(upstreams: readonly KnownUpstream[], name: string): readonly KnownUpstream[] {
  const found = upstreams.filter((one) => one.name === name);
  if (found.length > 0) return found;
  const names = [...new Set(upstreams.map((one) => one.name))];
  throw new CliError(
    `No process has published an upstream '${name}'.`,
    names.length === 0 ? NOBODY : `Known are: ${names.join(', ')}.`,
    1,
  );
}

/** For programs. */
export const pauseJson = ({ limiter: _, ...pause }: KnownPause): object => pause;

/** `limit: secondary rate limit (403, retry-after)`. */
export function whyOf({ kind, reason, status, header }: KnownPause): string {
  if (kind === 'unknown') return 'no process has published why';
  const response = [String(status), header].filter((part) => part !== '' && part !== '0').join(', ');
  return `${kind}: ${reason}${response === '' ? '' : ` (${response})`}`;
}

/** Sentences about one pause. */
export function pauseSentences(pause: KnownPause): readonly [string, ...string[]] {
  const { upstream, key, until, now, since, status, header, process, stored, others } = pause;
  const calls = key === WHOLE ? 'no calls' : `no calls of ${key}`;
  const who = stored
    ? `upstream '${upstream}' gets ${calls}`
    : `upstream '${upstream}' gets ${calls} from ${process}`;
  const answer = `Paused: ${who} until ${timeOf(until, now)}, in ${lengthOfMicros(until - now)}.`;
  if (pause.kind === 'unknown' || process === undefined)
    return [answer, 'No process has published why: an operator may have blocked it.'];
  const said = `${pause.kind}: ${pause.reason}.`;
  const stated = header === '' ? '' : `, with ${header}`;
  const response = status === 0 ? '' : ` ${process} got status ${status}${stated}`;
  const at = response === '' || since === undefined ? '' : ` at ${timeOf(since, now)}`;
  const alike =
    others === 0 ? [] : [`Also ${count(others, 'other process', 'other processes')}, for no longer.`];
  const alone = stored ? [] : [...alike, `${whyAlone(pause)} No command ends it.`];
  return [answer, `${said}${response}${at}${response === '' ? '' : '.'}`, ...alone];
}

/** Why a pause is in no store. An overload whose time no header states opens a circuit. */
const whyAlone = ({ kind, header }: KnownPause): string =>
  kind === 'overload' && header === ''
    ? 'The responses state no time, so the circuit of each process pauses that process alone.'
    : 'The store was out then, so no other process pauses.';

/** The processes that pause by themselves. */
const aloneText = ({ process, others }: KnownPause): string =>
  others === 0 ? `${process} alone` : `${process} and ${others} more alone`;

/** A table of pauses. */
export const pauseRows = (pauses: readonly KnownPause[]): readonly (readonly string[])[] =>
  pauses.map((pause) => [
    pause.upstream,
    pause.stored ? pause.key : `${pause.key} (${aloneText(pause)})`,
    momentOf(pause.until, pause.now).replace(/^at /, ''),
    whyOf(pause),
  ]);

export const PAUSE_HEADS = ['UPSTREAM', 'PAUSED', 'UNTIL', 'WHY'] as const;
