import {
  type Clock,
  ManualClock,
  memoryStore,
  type Policy,
  type Store,
} from '../../../packages/core/src/index.js';
import { type Upstream, type UpstreamOptions, upstream } from '../../../packages/outgoing/src/index.js';
import { fractionsFrom } from '../random.js';

/** What a `VirtualFleet` is like; times are ms of its clock. */
export interface VirtualFleetOptions {
  readonly processes: number;
  readonly calls: number;
  /** Calls that the service serves in any second. */
  readonly rate: number;
  /** The limits that the processes know. */
  readonly limits: Readonly<Record<string, Policy>>;
  /** How long a reply takes. Default: 0. */
  readonly latency?: number;
  /** The part of the limit that other users of the account take. Default: 0. */
  readonly others?: number;
  /** When they stop. Default: never. */
  readonly othersUntil?: number;
  /** Each step of a call takes up to so much longer: a timer, the way to the store and back, the way to the service. Default: 1. */
  readonly jitter?: number;
  /** The part of its calls at which a process stands still for 60 ms, as by a collection of garbage. Default: 0. */
  readonly stalls?: number;
  readonly options?: Partial<UpstreamOptions>;
  readonly seed?: number;
}

/** How a run of a `VirtualFleet` went. */
export interface FleetRun {
  readonly served: number;
  readonly refused: number;
  /** The time it took, divided by the least possible. */
  readonly ideal: number;
  /** ms at which calls arrived, and whether each was served. */
  readonly arrivals: readonly { readonly at: number; readonly isServed: boolean }[];
}

const WINDOW = 1000;
/** ms */
const STALL = 60;

/**
 * Processes of one store that call a service with an exact limit, all in virtual time: a busy machine changes nothing. Each process has timers
 * that end late, and ways to the store and to the service that take differently long.
 */
export async function runFleet(options: VirtualFleetOptions): Promise<FleetRun> {
  const {
    processes,
    calls,
    rate,
    limits,
    latency = 0,
    others = 0,
    jitter = 1,
    stalls = 0,
    seed = 1,
  } = options;
  const clock = new ManualClock();
  const random = fractionsFrom(seed);
  const late = () => Math.round(random() * jitter * 1000);
  const start = clock.now();
  const now = () => (clock.now() - start) / 1000;
  const shared = memoryStore({ clock });
  const arrivals: { at: number; isServed: boolean }[] = [];

  let served: number[] = [];
  /** Serves a call now, or says how many ms later it would. */
  const wait = (): number => {
    served = served.filter((at) => at > now() - WINDOW);
    if (served.length >= rate) return served[0]! + WINDOW - now();
    served.push(now());
    return 0;
  };
  /** What a process sends its calls by: after a stall those that were due meanwhile leave together. */
  const sender = () => {
    let stalledUntil = 0;
    return () => {
      if (stalls > 0 && random() < stalls) stalledUntil = now() + STALL;
      return respond(Math.max(0, stalledUntil - now()));
    };
  };
  const respond = async (stalled: number): Promise<Response> => {
    await clock.sleep(Math.round(stalled * 1000) + late());
    const ms = wait();
    arrivals.push({ at: now(), isServed: ms === 0 });
    const headers: Record<string, string> = {
      ratelimit: `"p";r=${rate - served.length};t=1`,
      'ratelimit-policy': `"p";q=${rate};w=1`,
    };
    if (ms > 0) headers['retry-after'] = (ms / 1000).toFixed(3);
    await clock.sleep(latency * 1000 + late());
    return new Response(null, { status: ms > 0 ? 429 : 200, headers });
  };

  const processStore = (): Store => {
    let lateness = 0;
    const own: Clock = {
      now: () => clock.now(),
      async sleep(micros, signal) {
        const by = late();
        await clock.sleep(micros + by, signal);
        lateness = Math.max(by, lateness - Math.ceil(lateness / 32));
      },
      lateness: () => lateness,
    };
    return {
      name: 'far',
      remote: true,
      slotted: false,
      clock: own,
      decide: async (call) => {
        await clock.sleep(late() / 2);
        const answer = shared.decide(call);
        await clock.sleep(late() / 2);
        return answer;
      },
      listen: (key, granted) => shared.listen(key, granted),
      rate: (change) => shared.rate(change),
      close: async () => {},
    };
  };
  const clients: Upstream[] = Array.from({ length: processes }, () =>
    upstream({
      name: 'fleet',
      origin: 'https://api.example.com',
      store: processStore(),
      limits,
      timeout: '1h',
      deadline: '5s',
      retry: { attempts: 20 },
      fetch: sender(),
      ...options.options,
    }),
  );

  let isOver = false;
  const otherUse = async () => {
    if (others === 0) return;
    for (;;) {
      await clock.sleep(1_000_000 / (rate * others));
      if (isOver || now() > (options.othersUntil ?? Number.POSITIVE_INFINITY)) return;
      wait();
    }
  };
  void otherUse();
  let done = 0;
  const work = Promise.all(
    clients.flatMap((client) =>
      Array.from({ length: calls / processes }, async (_, i) => {
        const { status } = await client.fetch(`/${i}`);
        if (status === 200) done += 1;
      }),
    ),
  );
  const finished = work.then(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(50);
  await finished;
  const last = Math.max(...arrivals.map(({ at }) => at));
  await Promise.all(clients.map((client) => client.close()));
  await clock.advance('1s');
  await shared.close();
  const ideal = ((calls - rate) * WINDOW) / (rate * (1 - others)) + latency;
  return {
    served: done,
    refused: arrivals.filter(({ isServed }) => !isServed).length,
    ideal: (last + latency) / ideal,
    arrivals,
  };
}
