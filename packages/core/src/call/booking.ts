/** How an `acquire` waits for the permits of a part. */
export interface Booking {
  /** µs: a waiting call passes this much later than its permits are back, if the call's `wait` is long enough. */
  readonly margin: number;
  /** µs: also this much later than the waiting call before it. */
  readonly gap: number;
  /** A call is denied that would be one more of those that wait for the key. */
  readonly maxWaiting: number;
}

export const PLAIN_BOOKING: Booking = { margin: 0, gap: 0, maxWaiting: Number.MAX_SAFE_INTEGER };

/** The most calls that wait for a key, because each call reads and writes all bookings. */
export const MOST_BOOKED = 1000;
