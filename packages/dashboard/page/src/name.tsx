import { Fragment } from 'preact';

/** The longest part that is kept whole, in characters. A longer one may not fit beside other columns. */
const LONGEST = 20;

/** A name or a key: it wraps after dots and colons, and within a part only if that is long. */
export function Name({ text }: { readonly text: string }) {
  const parts = text.match(/[^.:]+[.:]*|[.:]+/g) ?? [];
  return (
    <>
      {parts.map((part, place) => (
        <Fragment key={place}>
          {place > 0 && <wbr />}
          {part.length <= LONGEST ? <span class="whole">{part}</span> : part}
        </Fragment>
      ))}
    </>
  );
}
