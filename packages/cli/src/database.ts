import { existsSync } from 'node:fs';
import type { Store } from '@sluice/core';
import { CliError } from './cli-error.js';

/** A store that processes share, as a command needs it. */
export type SharedStore = Store & Required<Pick<Store, 'connect' | 'fleet' | 'look' | 'texts'>>;

interface Opened {
  readonly store: SharedStore;
  /** Without user and password. */
  readonly address: string;
  close(): Promise<void>;
}

/** How the address of a database begins, and how its store is opened. */
const DATABASES: Readonly<Record<string, (address: string) => Promise<Opened>>> = {
  'sqlite:': openSqlite,
};

const schemeOf = (address: string): string => /^[a-z]+:/.exec(address)?.[0] ?? '';

export const isDatabase = (address: string): boolean => Object.hasOwn(DATABASES, schemeOf(address));

/** @throws CliError if it cannot be there */
export const connectDatabase = (address: string): Promise<Opened> => DATABASES[schemeOf(address)]!(address);

async function openSqlite(address: string): Promise<Opened> {
  const file = address.slice('sqlite:'.length);
  // SQLite would make an empty one.
  if (!existsSync(file))
    throw new CliError(`There is no file ${file}.`, 'For example: --store sqlite:/var/lib/app/limits.db');
  const { sqliteStore } = await import('@sluice/sqlite');
  const store = sqliteStore({ file, definitions: false });
  return { store, address: file, close: () => store.close() };
}
