import { useMemo, useState } from 'preact/hooks';
import type { LimiterInfo } from '../../src/messages.ts';
import { Name } from './name.tsx';
import { Plot } from './plot.tsx';
import { figures, seriesOf } from './series.ts';
import type { Live } from './use-live.ts';
import { number } from './words.ts';

/** Plots on the page: others are found by name. */
const SHOWN = 24;

/** Whose calls are plotted. */
type Scope = 'process' | 'fleet';

export function Limiters({ live }: { readonly live: Live }) {
  const [filter, setFilter] = useState('');
  const [wanted, setWanted] = useState<Scope | undefined>();
  const { limiters, seconds, usage } = live;
  const all = useMemo(() => named(limiters, Object.keys(seconds.counts)), [limiters, seconds]);
  const matching = all.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase()));
  // The process that serves the page may be one of many, or limit nothing itself.
  const isAlone = usage === null || (usage.processes <= 1 && limiters.some(({ isOwn }) => isOwn));
  const scope = usage === null ? 'process' : (wanted ?? (isAlone ? 'process' : 'fleet'));
  return (
    <section aria-labelledby="limits-heading">
      <h2 id="limits-heading">Limits</h2>
      <div class="choices">
        <fieldset>
          <legend class="hidden">Calls of</legend>
          <Choice scope="process" current={scope} onChoose={setWanted} label="this process, 3 minutes" />
          {usage !== null && (
            <Choice scope="fleet" current={scope} onChoose={setWanted} label="all processes, 15 minutes" />
          )}
        </fieldset>
        {all.length > 8 && (
          <p>
            <label for="filter">Find</label>{' '}
            <input
              id="filter"
              type="search"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          </p>
        )}
      </div>
      {all.length === 0 && (
        <p class="none">
          No limiter is known yet: a process makes its limiters known after its first decision.
        </p>
      )}
      <ul class="cards">
        {matching.slice(0, SHOWN).map((limiter) => (
          <Limiter key={limiter.name} limiter={limiter} live={live} scope={scope} />
        ))}
      </ul>
      {matching.length > SHOWN && <p class="none">And {matching.length - SHOWN} more: find them by name.</p>}
    </section>
  );
}

interface ChoiceProps {
  readonly scope: Scope;
  readonly current: Scope;
  readonly label: string;
  readonly onChoose: (scope: Scope) => void;
}

function Choice({ scope, current, label, onChoose }: ChoiceProps) {
  return (
    <label>
      <input type="radio" name="scope" checked={scope === current} onChange={() => onChoose(scope)} /> {label}
    </label>
  );
}

type Named = Pick<LimiterInfo, 'name'> & Partial<LimiterInfo>;

/** Limiters that made themselves known, and those that were only seen to decide. */
function named(limiters: readonly LimiterInfo[], seen: readonly string[]): readonly Named[] {
  const known = new Set(limiters.map(({ name }) => name));
  // The axes of a meter are limiters.
  const shown = limiters.filter(({ kind }) => kind !== 'meter');
  const others = seen.filter((name) => !known.has(name)).map((name) => ({ name }));
  return [...shown, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function Limiter({
  limiter,
  live,
  scope,
}: {
  readonly limiter: Named;
  readonly live: Live;
  readonly scope: Scope;
}) {
  const { name, kind, policyTexts = {}, key, members, processes = 0 } = limiter;
  const series = seriesOf(live, name, scope === 'fleet');
  const [allowed, denied] = figures(series).map((rate) => (rate === undefined ? '–' : number(rate)));
  return (
    <li class="card" data-limiter={name}>
      <h3>
        <Name text={name} />
      </h3>
      <p class="policy">
        {Object.entries(policyTexts).map(([policy, text]) => (
          <span key={policy}>
            {policy !== name && `${policy}: `}
            {text}
          </span>
        ))}
        {kind === 'combined' && <span>all of {Object.values(members ?? {}).join(', ')}</span>}
        {kind === 'shared' && <span>a rate in the store</span>}
        {(key !== undefined || processes > 1) && (
          <span>
            {key !== undefined && `by ${key}`}
            {key !== undefined && processes > 1 && ', '}
            {processes > 1 && `${processes} processes`}
          </span>
        )}
      </p>
      <Plot series={series} />
      <p class="rates">
        <span class="allowed">{allowed} allowed</span> <span class="denied">{denied} denied</span>{' '}
        <span>each second</span>
      </p>
    </li>
  );
}
