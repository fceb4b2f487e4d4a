export interface Work {
  readonly workers: number;
  /** Calls of each worker, one after the other. */
  readonly calls: number;
  /** Pause after each call, ms. */
  readonly pause: number;
}

/** Runs workers that all begin at once. @returns the results of their calls */
export async function work<T>(
  { workers, calls, pause }: Work,
  call: (order: string) => Promise<T>,
): Promise<T[]> {
  const worker = async (_: unknown, number: number): Promise<T[]> => {
    const results: T[] = [];
    for (let i = 0; i < calls; i += 1) {
      if (i > 0 && pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
      results.push(await call(`${number}-${i}`));
    }
    return results;
  };
  return (await Promise.all(Array.from({ length: workers }, worker))).flat();
}
