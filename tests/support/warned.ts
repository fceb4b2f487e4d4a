/** The process warnings that are emitted while `work` runs. They are not printed. */
export async function warned(work: () => Promise<unknown>): Promise<string[]> {
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    await work();
    return emitted.mock.calls.map(([message]) => String(message));
  } finally {
    emitted.mockRestore();
  }
}
