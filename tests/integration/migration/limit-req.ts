/** A `limit_req` of a configuration, with the numbers that nginx uses. */
export interface LimitReq {
  readonly zone: string;
  /** Requests per second, in thousandths. */
  readonly rate: number;
  /** Requests, in thousandths. */
  readonly burst: number;
  /** Excess that is not delayed, in thousandths; infinite with `nodelay`. */
  readonly delay: number;
}

/** Reads the zones and the limits of a configuration, in their order. */
export function limitsOf(config: string): readonly LimitReq[] {
  const rates = new Map(
    [...config.matchAll(/limit_req_zone \S+ zone=(\w+):\w+ rate=(\d+)r\/([sm]);/g)].map(
      ([, zone, rate, unit]) => [zone, Math.floor((Number(rate) * 1000) / (unit === 's' ? 1 : 60))],
    ),
  );
  return [...config.matchAll(/limit_req zone=(\w+)([^;]*);/g)].map(([, zone, options = '']) => {
    const number = (name: string) => Number(new RegExp(`${name}=(\\d+)`).exec(options)?.[1] ?? 0) * 1000;
    const delay = / nodelay\b/.test(options) ? Number.POSITIVE_INFINITY : number('delay');
    return { zone: zone!, rate: rates.get(zone)!, burst: number('burst'), delay };
  });
}

/**
 * Decides as nginx does: a bucket leaks `rate`. A request that would fill it above `burst` is denied and not counted; above `delay` it
 * waits for the excess to leak.
 */
export class LimitReqModel {
  readonly #buckets = new Map<string, { excess: number; last: number }>();

  /**
   * @param now ms
   * @param keys the key of each limit; an empty key is not counted
   * @returns the wait of the request, ms; undefined if it is denied
   */
  request(now: number, limits: readonly LimitReq[], keys: readonly string[]): number | undefined {
    const taken: [string, number][] = [];
    let wait = 0;
    for (const [i, { zone, rate, burst, delay }] of limits.entries()) {
      if (keys[i] === '') continue;
      const id = `${zone} ${keys[i]}`;
      const before = this.#buckets.get(id);
      const leaked = before === undefined ? 0 : Math.floor((rate * (now - before.last)) / 1000);
      const excess = before === undefined ? 0 : Math.max(0, before.excess - leaked + 1000);
      if (excess > burst) return undefined;
      taken.push([id, excess]);
      if (excess > delay) wait = Math.max(wait, ((excess - delay) * 1000) / rate);
    }
    for (const [id, excess] of taken) this.#buckets.set(id, { excess, last: now });
    return wait;
  }
}

/** A request to the page's API. @param key of the API; '' for none */
export const ordersOf = (ip: string, key: string) => ({
  ip,
  user: undefined,
  method: 'GET',
  path: '/api/orders',
  params: {},
  query: {},
  body: {},
  headers: key === '' ? {} : { 'x-api-key': key },
});
