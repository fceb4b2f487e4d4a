export { type Carried, type CarryOptions, type CarryTarget, carry } from './carry.js';
export { EntryStore, type EntryStoreOptions, SHARING_OPTIONS, type SharingOptions } from './entry-store.js';
export type { Changes, EntryTable, KeptEntry, OpenKeys, TableNetwork } from './entry-table.js';
export { GrantListener, type Listening } from './grant-listener.js';
export { TableConnection, type TableConnectionOptions, type TableLink } from './table-connection.js';
export type { PutOptions, StoredEntries, StoredEntry } from './table-entries.js';
