import type { ComponentChildren } from 'preact';
import type { PolicyState } from '../../src/messages.ts';
import { duration, levelAt, number } from './words.ts';

type View<Kind extends PolicyState['view']['kind']> = Extract<PolicyState['view'], { kind: Kind }>;

interface Props {
  readonly policy: PolicyState;
  /** µs of the store's clock. */
  readonly now: number;
  readonly leaky: boolean;
}

const WIDTH = 320;

/** A state as a picture. The same is beside it in words. */
export function Drawing({ policy, now, leaky }: Props) {
  const { view, booked } = policy;
  return (
    <>
      {view.kind === 'bucket' && <Bucket view={view} now={now} leaky={leaky} />}
      {view.kind === 'window' && <Window view={view} now={now} />}
      {view.kind === 'log' && <Log view={view} now={now} />}
      {view.kind === 'holders' && <Holders view={view} now={now} />}
      {booked.length > 0 && <Queue booked={booked} now={now} />}
    </>
  );
}

function Bucket({
  view,
  now,
  leaky,
}: {
  readonly view: View<'bucket'>;
  readonly now: number;
  readonly leaky: boolean;
}) {
  const level = Math.max(0, levelAt(view, now));
  const share = view.capacity === 0 ? 0 : (leaky ? view.capacity - level : level) / view.capacity;
  const shown = leaky ? view.capacity - level : level;
  const height = 110 * Math.min(1, share);
  return (
    <>
      <svg class="bucket" viewBox="0 0 130 130" aria-hidden="true">
        <rect class="water" x="12" y={114 - height} width="106" height={height} />
        <path class="wall" d="M10,2V116H120V2" />
        {leaky && share > 0 && <path class="drop" d="M65,118l4,6a4.5,4.5 0 1,1 -8,0z" />}
        <text x="65" y="66" text-anchor="middle">
          {number(shown)}
        </text>
      </svg>
      <p class="bar-label">
        {leaky ? 'In the bucket' : 'There'}: {number(shown)} of {number(view.capacity)}
      </p>
    </>
  );
}

/** A bar below its label, which has the value. */
function Bar({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div class="bar">
      <p class="bar-label">{label}</p>
      <svg class="strip" viewBox={`0 0 ${WIDTH} 30`} aria-hidden="true">
        {children}
      </svg>
    </div>
  );
}

/** Two bars: the used share of the limit, and the window with the present moment. */
function Window({ view, now }: { readonly view: View<'window'>; readonly now: number }) {
  const begun = view.end !== undefined && view.start !== undefined && view.end > now;
  const used = begun ? view.used : 0;
  const at = begun ? (now - view.start!) / (view.end! - view.start!) : 0;
  return (
    <>
      <Share used={used} limit={view.limit} />
      <Bar label={begun ? `Window: ${duration((view.end! - now) / 1000)} left` : 'Window: not begun'}>
        <rect class="band" x="0" y="4" width={WIDTH} height="22" />
        {begun && <rect class="past" x="0" y="4" width={WIDTH * Math.min(1, at)} height="22" />}
        {begun && <line class="now" x1={WIDTH * at} x2={WIDTH * at} y1="0" y2="30" />}
      </Bar>
    </>
  );
}

/** The window ends now and slides: calls enter at the right and leave at the left. */
function Log({ view, now }: { readonly view: View<'log'>; readonly now: number }) {
  const length = view.window + view.slot;
  const x = (moment: number) => WIDTH * (1 - (now + view.slot - moment) / length);
  const inside = view.entries.filter(({ at }) => at > now - view.window);
  const used = inside.reduce((sum, { permits }) => sum + permits, 0);
  const most = Math.max(1, ...inside.map(({ permits }) => permits));
  const wide = view.slot > 0 ? Math.max(2, (WIDTH * view.slot) / length - 1) : 2;
  return (
    <>
      <Share used={used} limit={view.limit} />
      <Bar label={`Calls in ${duration(length / 1000)}: ${inside.length}`}>
        <rect class="band" x="0" y="4" width={WIDTH} height="22" />
        {inside.map(({ at, permits }) => {
          const height = 4 + (16 * permits) / most;
          return <rect key={at} class="mark" x={x(at) - wide} y={25 - height} width={wide} height={height} />;
        })}
      </Bar>
    </>
  );
}

function Share({ used, limit }: { readonly used: number; readonly limit: number }) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <Bar label={`Used: ${number(used)} of ${number(limit)}`}>
      <rect class="band" x="0" y="4" width={WIDTH} height="22" rx="3" />
      <rect class={share >= 1 ? 'full' : 'water'} x="0" y="4" width={WIDTH * share} height="22" rx="3" />
    </Bar>
  );
}

const ROWS = 8;

function Holders({ view, now }: { readonly view: View<'holders'>; readonly now: number }) {
  const living = view.holders.filter(({ until }) => until > now);
  const shown = living.slice(0, ROWS);
  const longest = Math.max(1, ...living.map(({ until }) => until - now));
  return (
    <div class="holders">
      <ol aria-label="Holders">
        {shown.map(({ since, until, permits }) => (
          <li key={since}>
            <label>
              <meter min={0} max={longest} value={until - now} />
              <span>
                {number(permits)} held, called {duration(Math.max(0, now - since) / 1000)} ago, lease ends in{' '}
                {duration((until - now) / 1000)}
              </span>
            </label>
          </li>
        ))}
      </ol>
      {living.length > ROWS && <p>And {living.length - ROWS} more.</p>}
      {view.waiting.length > 0 && <Dots count={view.waiting.length} label="waiting" />}
    </div>
  );
}

function Queue({ booked, now }: { readonly booked: PolicyState['booked']; readonly now: number }) {
  const ahead = booked.filter(({ at }) => at > now);
  const [next] = ahead;
  if (next === undefined) return null;
  return (
    <div class="queue">
      <Dots count={ahead.length} label="booked" />
      <span>The next passes in {duration((next.at - now) / 1000)}.</span>
    </div>
  );
}

const MOST_DOTS = 30;

function Dots({ count, label }: { readonly count: number; readonly label: string }) {
  return (
    <p class="dots">
      <span aria-hidden="true">{'●'.repeat(Math.min(count, MOST_DOTS))}</span> {count} {label}
    </p>
  );
}
