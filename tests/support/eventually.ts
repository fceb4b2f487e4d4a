/** Looks until it is so, for 20 s. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (attempt === 800) throw new Error('It never came to be so');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
