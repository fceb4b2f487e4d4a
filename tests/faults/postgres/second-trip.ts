interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Is it the first statement of the second trip of a turn? The turn that claims a sweep does not count. */
export const startsSecondTrip = ({ text, values }: Query): boolean =>
  /WITH (updated|inserted) AS/.test(text) && !String(values).includes('sluice:sweeping');
