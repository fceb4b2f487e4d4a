import { getOrCreate, type LimiterDefinition, type ProcessDefinitions } from '@sluice/core/internal';

/** More kinds than this are parts of the keys of users: a meter does not publish them either. */
const MOST_KINDS = 10;

/** The axes by kind of scope. */
type Kinds = Map<string, Set<string>>;

/** A process publishes the kinds of scopes that it has used. Gives each meter the kinds of all processes: it is one meter. */
export function withAllScopes<P extends ProcessDefinitions>(processes: readonly P[]): P[] {
  const meters = new Map<string, Kinds>();
  for (const { limiters } of processes) {
    for (const definition of limiters) {
      if (definition.meter === undefined) continue;
      const kinds = getOrCreate(meters, idOf(definition), (): Kinds => new Map());
      for (const [kind, axes] of Object.entries(definition.meter.scopes))
        for (const axis of axes) getOrCreate(kinds, kind, () => new Set<string>()).add(axis);
    }
  }
  return processes.map((process) => ({
    ...process,
    limiters: process.limiters.map((definition) =>
      definition.meter === undefined
        ? definition
        : { ...definition, meter: { ...definition.meter, scopes: scopesOf(meters.get(idOf(definition))!) } },
    ),
  }));
}

const idOf = ({ keyPrefix, name }: LimiterDefinition): string => JSON.stringify([keyPrefix, name]);

const scopesOf = (kinds: Kinds): Record<string, readonly string[]> =>
  kinds.size > MOST_KINDS
    ? {}
    : Object.fromEntries([...kinds].map(([kind, axes]): [string, string[]] => [kind, [...axes]]).sort());
