import { describe, encodeKey, type FleetBoard, type FleetKind } from '@sluice/core/internal';

/** A text of a process, or a part of one, that this version cannot read: it is left out. */
export interface LeftOut {
  /** Random id of its store object. */
  readonly process: string;
  /** `its host cannot be read` */
  readonly reason: string;
}

/** The notice board of a store. @throws TypeError if it has none */
export function noticeBoard<Board>(
  where: string,
  store: { readonly fleet?: Board | undefined } | undefined,
): Board {
  if (store?.fleet !== undefined) return store.fleet;
  throw new TypeError(`${where}: the store must be memoryStore() or redisStore(…), not ${describe(store)}`);
}

/** What a process published. */
export interface ReadNote<T> {
  readonly process: string;
  /** ms since it was published. */
  readonly age: number;
  readonly value: T;
}

/**
 * Reads what all processes published, the latest first. Other programs may write to the same Redis.
 * @param parse returns what a text says, and throws an Error that says why it cannot be read
 * @param leftOut gets each text that cannot be read
 * @throws StoreUnavailableError, StoreConfigurationError
 */
export async function readNotes<T>(
  board: Pick<FleetBoard, 'read'>,
  kind: FleetKind,
  parse: (text: string, leftOut: (reason: string) => void) => T,
  leftOut: (note: LeftOut) => void,
): Promise<ReadNote<T>[]> {
  return (await board.read(kind)).flatMap(({ process: id, age, text, problem }) => {
    const process = encodeKey(id);
    const refuse = (reason: string) => leftOut({ process, reason });
    try {
      if (problem !== undefined) throw new Error(problem);
      return [{ process, age, value: parse(text, refuse) }];
    } catch (error) {
      refuse((error as Error).message);
      return [];
    }
  });
}
