import type { AxisState, MeterState } from '../../src/messages.ts';
import { Name } from './name.tsx';
import { type Column, Table } from './table.tsx';
import { useNow } from './use-now.ts';
import { clockTime, duration, number } from './words.ts';

const COLUMNS: readonly Column[] = [
  ['Axis'],
  ['Limit', 'time'],
  ['Spent', 'time'],
  ['Held', 'time'],
  ['Left', 'time'],
  ['Frees in', 'time'],
];

/** What a caller has left of each axis of a meter. */
export function Meter({
  state,
  ahead,
}: {
  readonly state: MeterState;
  /** µs by which the store's clock is ahead of this one. */
  readonly ahead: number;
}) {
  const now = useNow() + ahead;
  const stops = (axis: AxisState) => axis.freesAt === null || axis.freesAt > now;
  const local = (moment: number) => clockTime((moment - ahead) / 1000);
  const freesIn = (axis: AxisState) => {
    if (axis.freesAt === null) return 'never';
    return stops(axis) ? duration((axis.freesAt - now) / 1000) : '';
  };
  const stopping = [...new Set(state.axes.filter(stops).map(({ axis }) => axis))];
  return (
    <>
      <p class="verdict" aria-live="polite">
        {stopping.length === 0 ? (
          <strong class="allowed">A call would pass now.</strong>
        ) : (
          <>
            <strong class="denied">A call would be stopped</strong> by {stopping.join(' and ')}.
          </>
        )}
      </p>
      <Table
        labelledBy="key-heading"
        id="axes"
        columns={COLUMNS}
        rows={state.axes.map((axis) => ({
          key: `${axis.axis} ${axis.scope}`,
          cells: [
            <Axis axis={axis} now={now} local={local} />,
            ...[axis.limit, axis.spent, axis.held, axis.left].map(number),
            freesIn(axis),
          ],
        }))}
      />
    </>
  );
}

interface AxisProps {
  readonly axis: AxisState;
  readonly now: number;
  readonly local: (moment: number) => string;
}

function Axis({ axis: { axis, scope, isSoft, blockedUntil, overrideUntil }, now, local }: AxisProps) {
  return (
    <>
      <Name text={axis} />{' '}
      <small>
        <Name text={scope} />
      </small>
      {isSoft && <small> soft</small>}
      {blockedUntil > now && <small> blocked until {local(blockedUntil)}</small>}
      {overrideUntil > now && <small> overridden until {local(overrideUntil)}</small>}
    </>
  );
}
