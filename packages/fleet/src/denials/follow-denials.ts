import type { Store, StoreConfigurationError, StoreUnavailableError } from '@sluice/core';
import { type DenialSource, encodeKey } from '@sluice/core/internal';
import { type LeftOut, noticeBoard } from '../definitions/read-notes.js';
import { DenialFeed } from './denial-feed.js';
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

/** A store with a notice board. */
export type Followed = Pick<Store, 'name' | 'fleet' | 'usage' | 'health'>;

/**
 * Receives the denials of all processes of a store as they come. Writes nothing to the store. Of other processes, those whose
 * store has the option `denials` notice within seconds that there is a subscriber, and report as long as there is one. Goes on by itself after an outage. Reports may be missed: this is no log.
 * @returns a function that ends it
 * @throws TypeError if the store has no notice board
 */
export function followDenials(store: Followed, follower: DenialFollower): () => void {
  const board = noticeBoard('followDenials', store);
  // The denials of this process, too.
  DenialFeed.of(store as DenialSource);
  return board.follow({
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
