import {
  isStoreConfigurationError,
  isStoreUnavailableError,
  StoreConfigurationError,
  StoreUnavailableError,
  type UnavailableReason,
} from '@sluice/core';

interface ServerError {
  readonly code: string;
  readonly message: string;
}

/** An error that the server has sent. Its transaction is over, and nothing of it is kept. Undefined for a lost connection. */
export function serverError(error: unknown): ServerError | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? (error as ServerError) : undefined;
}

const LOGIN =
  'the server refuses the login: give postgresStore the user and the password that the server takes now';
const RIGHTS =
  'the server refuses a right: the user needs SELECT, INSERT, UPDATE and DELETE on the table, and CREATE on its schema while there is no table';

/** What a person must mend. */
const MISTAKES: Readonly<Record<string, string>> = {
  '3D000': 'the server has no such database: give postgresStore one that it has',
  '3F000': 'the database has no such schema: create it, or give postgresStore another',
  '42501': RIGHTS,
  '28P01': LOGIN,
  '28000': LOGIN,
};

/** Outages that are more than a lost connection, by code or class of codes. */
const REASONS: Readonly<Record<string, UnavailableReason>> = {
  '28P01': 'WRONGPASS',
  '28000': 'WRONGPASS',
  '42501': 'NOPERM',
  '25006': 'READONLY',
  '57P03': 'LOADING',
  '53100': 'OOM',
  '53200': 'OOM',
  '55P03': 'timeout',
  '57014': 'timeout',
};

/** Errors after which the same turn is decided again: nothing of it was kept. */
export const isAgain = (error: unknown): boolean =>
  ['40001', '40P01'].includes(serverError(error)?.code ?? '');

/** Does the connection lead to a server that cannot write, such as a replica? Then another one may lead to the primary. */
export const isReadOnly = (error: unknown): boolean => serverError(error)?.code === '25006';

/** Is the table gone? */
export const isMissingTable = (error: unknown): boolean => serverError(error)?.code === '42P01';

/**
 * An error of a driver as one of ours. A refused login or right is an outage, on which failure policies decide, as with Redis.
 * @param neverSent is it certain that nothing was kept?
 */
export function classified(
  error: unknown,
  neverSent: boolean,
): StoreUnavailableError | StoreConfigurationError {
  if (isStoreUnavailableError(error) || isStoreConfigurationError(error)) return error;
  const code = serverError(error)?.code ?? '';
  const remedy = MISTAKES[code];
  const message = remedy === undefined ? messageOf(error) : `${remedy} (${messageOf(error)})`;
  const reason = REASONS[code];
  if (reason === undefined && (remedy !== undefined || /^(?:42|0A|22)/.test(code)))
    return new StoreConfigurationError(`postgres store: ${message}`, { cause: error });
  return new StoreUnavailableError(`postgres store: ${message}`, {
    cause: error,
    reason: reason ?? 'connection',
    neverSent,
  });
}

/** Several addresses of one host fail together, with a message each. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((one) => messageOf(one)).join(', ');
  return (error as Partial<Error> | undefined)?.message ?? String(error);
}

export const storeClosed = (): StoreUnavailableError =>
  new StoreUnavailableError('postgres store: it was closed', { reason: 'closed', neverSent: true });

export const connectionReplaced = (): StoreUnavailableError =>
  new StoreUnavailableError(
    'postgres store: the client or a pooler has replaced the connection within a transaction',
    { neverSent: true },
  );
