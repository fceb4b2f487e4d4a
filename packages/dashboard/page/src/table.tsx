import type { ComponentChildren } from 'preact';

/** A column: its heading, and a class of its cells. */
export type Column = readonly [heading: string, kind?: string];

interface Props {
  /** The id of the heading that names the table. */
  readonly labelledBy: string;
  /** The id of the body. */
  readonly id: string;
  readonly columns: readonly Column[];
  /** The cells of each row, and what identifies the row. */
  readonly rows: readonly { readonly key: string; readonly cells: readonly ComponentChildren[] }[];
}

/** A list that scrolls. Where it is narrow, each row is a block of lines: the heading of a column, and the value. */
export function Table({ labelledBy, id, columns, rows }: Props) {
  return (
    <div class="scroll" tabindex={0}>
      <table aria-labelledby={labelledBy}>
        <thead>
          <tr>
            {columns.map(([heading]) => (
              <th scope="col" key={heading}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody id={id}>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {columns.map(([heading, kind], place) => (
                <td key={heading} class={kind} data-heading={heading}>
                  <div>{cells[place]}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
