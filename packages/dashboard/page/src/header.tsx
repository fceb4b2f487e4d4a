import type { RoundTrip } from '../../src/reports.ts';
import type { Live } from './use-live.ts';
import { clockTime, duration, number } from './words.ts';

const CONNECTION = {
  connecting: 'Connecting…',
  live: 'Live.',
  lost: 'The server does not answer: trying again.',
  refused: '',
};

const NAMES: Readonly<Record<string, string>> = { redis: 'Redis' };

export function Header({ live: { connection, about, health, findings } }: { readonly live: Live }) {
  const out = health?.out ?? [];
  const isWell = connection === 'live' && out.length === 0;
  return (
    <header>
      <h1>Rate limits</h1>
      <p class="state">
        <span class={`dot ${isWell ? 'on' : ''}`} aria-hidden="true" />{' '}
        <span id="connection">{CONNECTION[connection]}</span>{' '}
        {about !== undefined && <Store {...about} roundTrip={health?.roundTrip ?? null} />}
      </p>
      <nav aria-label="Parts of the page">
        <a href="#limits-heading">Limits</a>
        <a href="#key-heading">One key</a>
        <a href="#denials-heading">Denied just now</a>
        <a href="#top-heading">Denied most</a>
        {findings !== null && <a href="#findings-heading">Findings</a>}
      </nav>
      <div role="status">
        {out.map(({ node, since, error }) => (
          <p class="outage" key={node}>
            <strong>
              {NAMES[about?.store ?? ''] ?? 'The store'} {node} is out since {clockTime(since)}
            </strong>{' '}
            ({duration(Math.max(0, Date.now() - since))}). Failure policies decide. {error}
          </p>
        ))}
      </div>
    </header>
  );
}

function Store({
  store,
  address,
  roundTrip,
}: {
  readonly store: string;
  readonly address: string | null;
  readonly roundTrip: RoundTrip | null;
}) {
  if (store === 'memory') return <span id="store">Counted in the memory of one process.</span>;
  return (
    <span id="store">
      Counted in {NAMES[store] ?? store}
      {address === null ? '' : ` at ${address}`}
      {roundTrip === null
        ? '.'
        : `, which answers in ${number(roundTrip.p50)} ms, 99 % in ${number(roundTrip.p99)} ms.`}
    </span>
  );
}
