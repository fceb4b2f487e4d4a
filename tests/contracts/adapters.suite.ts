import supertest from 'supertest';
import {
  type Duration,
  type FixedWindowPolicy,
  fixedWindow,
  ManualClock,
  type MemoryStore,
  memoryStore,
} from '../../packages/core/src/index.js';
import { adapters, type Running, type Service } from './adapters.js';

/** What the tests of an adapter work with. */
export interface Tools {
  /** Serves until the end of the test. */
  start(service: Service): Promise<ReturnType<typeof supertest>>;
  /** The address of the service that was started last. */
  url(): string;
  /** Serves beside it; whoever asks for it closes it. */
  serve(service: Service): Promise<Running>;
  /** A store on the clock that `advance` moves. */
  memory(): MemoryStore;
  advance(by: Duration): Promise<void>;
}

/** So many in 10 s. */
export const inTenSeconds = (limit: number): FixedWindowPolicy => fixedWindow({ limit, window: '10s' });

/** What every adapter must do. */
export function onEachAdapter(tests: (tools: Tools) => void): void {
  describe.each(adapters)('$name', ({ serve }) => {
    let clock: ManualClock;
    let running: Running | undefined;

    beforeEach(() => {
      clock = new ManualClock();
    });
    afterEach(async () => {
      await running?.close();
      running = undefined;
    });

    tests({
      start: async (service) => {
        running = await serve(service);
        return supertest(running.url);
      },
      url: () => running!.url,
      serve,
      memory: () => memoryStore({ clock }),
      advance: (by) => clock.advance(by),
    });
  });
}
