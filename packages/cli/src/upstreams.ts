import type { LimiterDefinition } from '@sluice/core/internal';
import { type NotedPause, type PausingProcess, readPauses } from '@sluice/fleet';
import { CliError } from './cli-error.js';
import type { Context } from './command.js';
import { type Fleet, NOBODY, withKeys } from './fleet.js';
import { lookAt } from './key-report.js';
import { processText } from './text.js';
import { lengthOfMicros, momentOf, timeOf } from './words.js';

/** The end of the name of a limiter whose blocked keys are the pauses of an upstream; the rest is the name of the upstream. */
const PAUSES = ':pauses';
/** The key of an upstream as a whole: also a process that publishes nothing may have paused it. */
const WHOLE = 'upstream';
/** The most keys of an upstream that are looked at: those whose pauses end last. */
const MOST = 1000;

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
}

interface Note {
  readonly pause: NotedPause;
  readonly by: PausingProcess;
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
  const found = new Map<string, { name: string; limiter: LimiterDefinition; notes: Map<string, Note> }>();
  const add = (name: string, limiter: LimiterDefinition) => {
    const id = JSON.stringify(limiter.prefixes);
    const known = found.get(id) ?? { name, limiter, notes: new Map<string, Note>() };
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
      for (const pause of pauses) {
        const before = notes.get(pause.key);
        if (before === undefined || before.pause.until < pause.until) notes.set(pause.key, { pause, by });
      }
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
  notes: ReadonlyMap<string, Note>,
): Promise<readonly KnownPause[]> {
  const last = [...notes.values()].sort((one, other) => other.pause.until - one.pause.until).slice(0, MOST);
  const keys = new Set([WHOLE, ...last.map(({ pause }) => pause.key)]);
  const pauses = [...keys].map(async (key): Promise<readonly KnownPause[]> => {
    const { seen } = await lookAt(context, { definition: limiter, processes: [] }, key, 0);
    const [policy] = seen?.policies ?? [];
    if (seen === undefined || policy === undefined) return [];
    const { now } = seen;
    const note = notes.get(key);
    const isStored = policy.blockedUntil > now;
    // The store was out: the process pauses by itself.
    const isAlone = !isStored && note !== undefined && !note.pause.stored && note.pause.until * 1000 > now;
    if (!isStored && !isAlone) return [];
    const why = note?.pause ?? unknownAt(key);
    return [
      {
        ...why,
        upstream,
        limiter,
        since: note && note.pause.since * 1000,
        until: isStored ? policy.blockedUntil : why.until * 1000,
        now,
        stored: isStored,
        process: note && processText(note.by),
      },
    ];
  });
  return (await Promise.all(pauses)).flat().sort((one, other) => other.until - one.until);
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
  const { upstream, key, until, now, since, status, header, process, stored } = pause;
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
  const alone = stored ? [] : ['The store was out then, so no other process pauses, and no command ends it.'];
  return [answer, `${said}${response}${at}${response === '' ? '' : '.'}`, ...alone];
}

/** A table of pauses. */
export const pauseRows = (pauses: readonly KnownPause[]): readonly (readonly string[])[] =>
  pauses.map((pause) => [
    pause.upstream,
    pause.stored ? pause.key : `${pause.key} (${pause.process} alone)`,
    momentOf(pause.until, pause.now).replace(/^at /, ''),
    whyOf(pause),
  ]);

export const PAUSE_HEADS = ['UPSTREAM', 'PAUSED', 'UNTIL', 'WHY'] as const;
