import { useEffect, useState } from 'preact/hooks';
import type { About, Denial, Events, Health, LimiterInfo, Seconds, Usage } from '../../src/messages.ts';
import type { Reports } from '../../src/reports.ts';
import { type Connection, openStream } from './stream.ts';

/** Seconds, and denials, that the page keeps. */
const SECONDS = 180;
const DENIALS = 100;

export interface Live {
  readonly connection: Connection;
  readonly about: About | undefined;
  readonly limiters: readonly LimiterInfo[];
  readonly health: Health | undefined;
  readonly seconds: Seconds;
  readonly usage: Usage;
  readonly findings: Events['findings'];
  readonly denials: readonly Denial[];
  readonly reports: Reports;
}

const START: Live = {
  connection: 'connecting',
  about: undefined,
  limiters: [],
  health: undefined,
  seconds: { end: 0, watched: 0, counts: {} },
  usage: null,
  findings: null,
  denials: [],
  reports: { omitted: 0, problem: null },
};

/** What the server sends to all pages. */
export function useLive(): Live {
  const [live, setLive] = useState(START);
  useEffect(
    () =>
      openStream(
        'events',
        {},
        (name, data) => setLive((before) => next(before, name as keyof Events, data)),
        (connection) => setLive((before) => ({ ...before, connection })),
      ),
    [],
  );
  return live;
}

function next(live: Live, name: keyof Events, data: unknown): Live {
  switch (name) {
    case 'history':
      return { ...live, seconds: data as Seconds };
    case 'second':
      return { ...live, seconds: joined(live.seconds, data as Seconds) };
    case 'denials': {
      const newer = data as readonly Denial[];
      const denied = new Set(newer.map(keyOf));
      const others = live.denials.filter((denial) => !denied.has(keyOf(denial)));
      return { ...live, denials: [...newer, ...others].sort((a, b) => b.id - a.id).slice(0, DENIALS) };
    }
    case 'about':
      return { ...live, about: data as About, denials: [] };
    case 'limiters':
    case 'health':
    case 'usage':
    case 'findings':
    case 'reports':
      return { ...live, [name]: data };
    default:
      return live;
  }
}

export const keyOf = ({ limiter, key }: Pick<Denial, 'limiter' | 'key'>): string => `${limiter} ${key.text}`;

function joined(before: Seconds, { end, watched, counts }: Seconds): Seconds {
  const all: Record<string, readonly (readonly [number, number])[]> = {};
  for (const name of new Set([...Object.keys(before.counts), ...Object.keys(counts)])) {
    const pairs = [...(before.counts[name] ?? []), counts[name]?.[0] ?? ([0, 0] as const)].slice(-SECONDS);
    if (pairs.some(([allowed, denied]) => allowed + denied > 0)) all[name] = pairs;
  }
  return { end, watched: Math.min(SECONDS, before.watched + watched), counts: all };
}
