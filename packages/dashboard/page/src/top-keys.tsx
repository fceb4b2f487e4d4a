import type { LimiterInfo, TopKey, Usage } from '../../src/messages.ts';
import { Key } from './denials.tsx';
import { Name } from './name.tsx';
import { type Column, Table } from './table.tsx';
import { number } from './words.ts';

interface Props {
  readonly usage: Usage;
  readonly limiters: readonly LimiterInfo[];
  readonly onChoose: (limiter: string, key: string) => void;
}

const COLUMNS: readonly Column[] = [['Limit'], ['Policy'], ['Key'], ['Denied calls', 'time']];

/** The keys that all processes denied most. */
export function TopKeys({ usage, limiters, onChoose }: Props) {
  const rows = usage?.denied.map((top) => ({
    key: `${top.limiter} ${top.owner} ${top.key.text}`,
    cells: [
      <Limit top={top} />,
      <Policy top={top} owner={limiters.find(({ name }) => name === top.owner)} />,
      <Key limiter={top.owner} shown={top.key} onChoose={onChoose} />,
      top.error > 0 ? `${number(top.count - top.error)} to ${number(top.count)}` : number(top.count),
    ],
  }));
  return (
    <section aria-labelledby="top-heading">
      <h2 id="top-heading">Denied most in 15 minutes</h2>
      {rows === undefined ? (
        <p class="none">
          Not counted: create the store with <code>usage: true</code>.
        </p>
      ) : rows.length === 0 ? (
        <p class="none">No key was denied.</p>
      ) : (
        <Table labelledBy="top-heading" id="top" columns={COLUMNS} rows={rows} />
      )}
    </section>
  );
}

function Limit({ top: { limiter, owner } }: { readonly top: TopKey }) {
  return (
    <>
      <Name text={limiter} />
      {owner !== limiter && (
        <small>
          {' '}
          <Name text={owner} />
        </small>
      )}
    </>
  );
}

/** The policy that denied: its name if the limiter has several, and its numbers if they are known. */
function Policy({ top, owner }: { readonly top: TopKey; readonly owner: LimiterInfo | undefined }) {
  const text = owner?.policyTexts[top.policy ?? top.owner];
  if (top.policy === undefined) return text ?? 'not known';
  return (
    <>
      <Name text={top.policy} />
      {text !== undefined && <small> {text}</small>}
    </>
  );
}
