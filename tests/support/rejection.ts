/** The reason with which `work` rejected; undefined if it resolved. */
export const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
