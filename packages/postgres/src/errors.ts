import {
  isStoreConfigurationError,
  isStoreUnavailableError,
  StoreConfigurationError,
  StoreUnavailableError,
  type UnavailableReason,
} from '@sluice/core';

/** The code of an error that the server has sent: nothing of its transaction is kept. Undefined for a lost connection. */
export function codeOf(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

/** The transaction failed, and would not fail again. */
export const isAgain = (error: unknown): boolean => /^40/.test(codeOf(error) ?? '');

/** A new connection may help: it finds the new primary (25006), or makes the table that is gone (42P01). */
export const needsConnection = (error: unknown): boolean =>
  /^(?:25006|42P01|57P|25P03|08)/.test(codeOf(error) ?? '08');

const LOGIN =
  'the server refuses the login: give postgresStore the user and the password that the server takes now';
const RIGHT =
  'the server refuses a right: the user needs SELECT, INSERT, UPDATE and DELETE on the table, and CREATE on its schema until there is a table';

/** What a person must mend; with a reason it is an outage, on which failure policies decide, as for Redis. */
const ROWS: Readonly<Record<string, readonly [reason: UnavailableReason | undefined, remedy?: string]>> = {
  '28P01': ['WRONGPASS', LOGIN],
  '28000': ['WRONGPASS', LOGIN],
  '42501': ['NOPERM', RIGHT],
  '3D000': [undefined, 'the server has no such database: give postgresStore one that it has'],
  '3F000': [undefined, 'the database has no such schema: create it, or give postgresStore another one'],
  '42P01': ['connection'], // it is made again
  '25006': ['READONLY'],
  '57P03': ['LOADING'],
  '53100': ['OOM'],
  '53200': ['OOM'],
  '55P03': ['timeout'],
  '57014': ['timeout'],
};
/** Other codes of statements that cannot work, such as those of a server that is no Postgres. */
const MISTAKE = /^(?:42|0A|22)/;

/** An error of a client as one of ours. @param neverSent is it certain that nothing was kept? */
export function classified(
  error: unknown,
  neverSent: boolean,
): StoreUnavailableError | StoreConfigurationError {
  if (isStoreUnavailableError(error) || isStoreConfigurationError(error)) return error;
  const code = codeOf(error) ?? '';
  const [reason, remedy] = ROWS[code] ?? [MISTAKE.test(code) ? undefined : 'connection'];
  const said = messageOf(error);
  const message = `postgresStore: ${remedy === undefined ? said : `${remedy} (${said})`}`;
  if (reason === undefined) return new StoreConfigurationError(message, { cause: error });
  return new StoreUnavailableError(message, { cause: error, reason, neverSent });
}

/** All addresses of a host may fail, each with its own message. */
function messageOf(error: unknown): string {
  const { message, errors } = Object(error) as { message?: string; errors?: readonly unknown[] };
  return message || errors?.map(messageOf).join(', ') || String(error);
}

export const connectionReplaced = (): StoreUnavailableError =>
  new StoreUnavailableError('postgresStore: a client or pooler replaced the connection of a transaction', {
    neverSent: true,
  });

export const serverIsStandby = (): StoreUnavailableError =>
  new StoreUnavailableError(
    'postgresStore: the server is a standby, which takes no writes: give the address of the primary, or wait for the end of a failover',
    { reason: 'READONLY', neverSent: true },
  );
