/** An order to the program: to start waiting calls, or to close everything while Redis is out. */
export type Order =
  | { readonly order: 'wait' }
  | {
      readonly order: 'close';
      /** Whether to close only after the circuit has opened. */
      readonly known: boolean;
      readonly stores: 'first' | 'last';
    };

export interface Closed {
  /** How calls ended: `done`, or the name of an error. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly unsettled: number;
  /** What keeps the process alive. */
  readonly resources: readonly string[];
}
