/** What the test tells the program: to have calls wait; or that Redis is out, and it is to close everything. */
export type Order =
  | { readonly order: 'wait' }
  | {
      readonly order: 'close';
      /** Only once it has found out that Redis is out. */
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
