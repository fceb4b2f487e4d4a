/** The larger array, with what the smaller one holds at its beginning. */
export function resized<T extends Uint8Array | Uint32Array | Float64Array>(smaller: T, larger: T): T {
  larger.set(smaller);
  return larger;
}
