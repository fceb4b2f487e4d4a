import type { Denial, ShownKey } from '../../src/messages.ts';
import type { Reports } from '../../src/reports.ts';
import { Name } from './name.tsx';
import { type Column, Table } from './table.tsx';
import { keyOf } from './use-live.ts';
import { clockTime, number } from './words.ts';

interface Props {
  readonly denials: readonly Denial[];
  readonly reports: Reports;
  readonly onChoose: (limiter: string, key: string) => void;
}

const COLUMNS: readonly Column[] = [
  ['Last', 'time'],
  ['Limit'],
  ['Key'],
  ['Calls', 'time'],
  ['Passes', 'time'],
];

/** Keys that any process denies, the latest first. */
export function Denials({ denials, reports: { omitted, problem }, onChoose }: Props) {
  const [latest] = denials;
  const rows = denials.map((denial) => ({
    key: keyOf(denial),
    cells: [
      clockTime(denial.at),
      <Limit denial={denial} />,
      <Key limiter={denial.owner} shown={denial.key} onChoose={onChoose} />,
      number(denial.count),
      denial.retryAfter === null ? 'never' : clockTime(denial.at + denial.retryAfter),
    ],
  }));
  return (
    <section aria-labelledby="denials-heading">
      <h2 id="denials-heading">
        Denied just now <small>by all processes</small>
      </h2>
      {denials.length === 0 ? (
        <p class="none">None since this page is open.</p>
      ) : (
        <Table labelledBy="denials-heading" id="denials" columns={COLUMNS} rows={rows} />
      )}
      {omitted > 0 && (
        <p class="none">And {number(omitted)} more denied calls, of keys that are not listed.</p>
      )}
      {problem !== null && <p role="alert">The processes cannot be followed: {problem}</p>}
      <p class="hidden" aria-live="polite">
        {latest !== undefined && `${latest.limiter} denied a call.`}
      </p>
    </section>
  );
}

function Limit({ denial: { limiter, policy, shadow, process } }: { readonly denial: Denial }) {
  return (
    <>
      <Name text={limiter} />
      {policy !== limiter && (
        <small>
          {' '}
          <Name text={policy} />
        </small>
      )}
      {shadow && <small> dry run</small>}
      <small>
        {' '}
        <Name text={process} />
      </small>
    </>
  );
}

/** A key that is drawn when it is pressed. */
export function Key({
  limiter,
  shown: { text, known },
  onChoose,
}: {
  readonly limiter: string;
  readonly shown: ShownKey;
  readonly onChoose: (limiter: string, key: string) => void;
}) {
  const name = (
    <bdi>
      <Name text={text} />
    </bdi>
  );
  if (!known) return <span title="Only a digest is known. Type the key to see it.">{name}</span>;
  return (
    <button type="button" class="key" title="Show this key" onClick={() => onChoose(limiter, text)}>
      {name}
    </button>
  );
}
