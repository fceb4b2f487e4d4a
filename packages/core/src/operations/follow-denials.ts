import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import type { FleetBoard } from '../fleet/board.js';
import type { LeftOut } from '../fleet/read-notes.js';
import { encodeKey } from '../keys/redis-key.js';
import { describe } from '../options.js';
import type { DenialReport } from './denial-report.js';
import { type ParsedReport, parseDenials } from './parse-denials.js';

export interface DenialFollower {
  /** A process reports its denials twice a second, and at least every 2 s. */
  report(report: DenialReport): void;
  /** The store is out, or refuses: reports are missed until `resumed`. Called again for another reason. */
  lost?(error: StoreUnavailableError | StoreConfigurationError): void;
  resumed?(): void;
  /** A report cannot be read. */
  leftOut?(note: LeftOut): void;
}

/** A store, or what else has its notice board. */
export interface Followed {
  readonly fleet?: Pick<FleetBoard, 'follow'> | undefined;
}

/**
 * Receives the denials of all processes of a store as they come. Writes nothing to the store: the processes notice within seconds that
 * there is a subscriber, and report as long as there is one. Goes on by itself after an outage. Reports may be missed: this is no log.
 * @returns a function that ends it
 * @throws TypeError if the store has no notice board
 */
export function followDenials(store: Followed, follower: DenialFollower): () => void {
  if (typeof store?.fleet?.follow !== 'function') {
    throw new TypeError(
      `followDenials: the store must be memoryStore() or redisStore(…), not ${describe(store)}`,
    );
  }
  return store.fleet.follow({
    received({ process, time, text }) {
      let parsed: ParsedReport;
      try {
        parsed = parseDenials(text);
      } catch (error) {
        follower.leftOut?.({ process: encodeKey(process), reason: (error as Error).message });
        return;
      }
      const denials = parsed.denials.map(({ age, ...denial }) => ({ at: time - age, ...denial }));
      follower.report({ process, ...parsed, denials });
    },
    lost: (error) => follower.lost?.(error),
    resumed: () => follower.resumed?.(),
  });
}
