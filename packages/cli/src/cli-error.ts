import { isSluiceError, isStoreUnavailableError, type UnavailableReason } from '@sluice/core';
import { isStoreRefusal } from '@sluice/core/internal';

/** 0: yes, or done. 1: no: denied, unknown, or something found. 2: it could not be done. */
export type ExitCode = 0 | 1 | 2;

/** An error for people: one sentence about the problem, and one about the remedy. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly remedy?: string,
    readonly exitCode: ExitCode = 2,
  ) {
    super(message);
  }
}

const isPostgres = (address: string): boolean => address.startsWith('postgres://');

/** @param why errors of Node.js; certificate errors are named */
export function noAnswer(address: string, why: string): CliError {
  if (/certificate/.test(why))
    return new CliError(
      `${address} shows a certificate that is not trusted: ${why}`,
      'Give the certificate of its authority with --ca FILE. The host in the address must be one that the certificate names.',
    );
  return new CliError(
    `${address} does not answer: ${why}`,
    isPostgres(address)
      ? 'Is the address right? Give another one with --store, or in SLUICE_STORE.'
      : 'Is the address right? Give another one with --redis, --cluster or --sentinel, or in REDIS_URL.',
  );
}

/** What to do when a server answers that it cannot serve. */
const BUSY_REMEDY = 'What is wrong with it: sluice doctor';
const REMEDIES: { readonly [reason in UnavailableReason]?: string } = {
  OOM: `Its memory is full: give it more (CONFIG SET maxmemory). ${BUSY_REMEDY}`,
  READONLY: 'It is a replica: give the address of the primary. For a Redis, sluice doctor names it.',
  LOADING: 'It starts and loads its data: try again.',
  BUSY: 'A script of another program runs: try again, or SCRIPT KILL.',
  MISCONF: BUSY_REMEDY,
  MASTERDOWN: BUSY_REMEDY,
  NOREPLICAS: BUSY_REMEDY,
  CLUSTERDOWN: BUSY_REMEDY,
  TRYAGAIN: 'Slots of the cluster are on the move: try again.',
};

/** Turns any error into an error for people. @param address of the server, without a password */
export function cliErrorOf(error: unknown, address: string): CliError {
  if (error instanceof CliError) return error;
  const message = error instanceof Error ? error.message.replace(/^\w+ store: /, '') : String(error);
  if (isStoreRefusal(error)) {
    const { reason } = error;
    if (reason === 'WRONGPASS' || reason === 'NOAUTH')
      return new CliError(
        `${address} refuses the login: ${message}`,
        isPostgres(address)
          ? 'Give user and password in SLUICE_STORE (postgres://user:password@host/database), or in PGUSER and PGPASSWORD.'
          : 'Give user and password in REDIS_URL (redis://user:password@host:6379), or in REDIS_USERNAME and REDIS_PASSWORD; those of sentinels in SENTINEL_USERNAME and SENTINEL_PASSWORD.',
      );
    if (reason === 'NOPERM')
      return new CliError(
        `${address} refuses a command to this user: ${message}`,
        'docs/cli.md lists the rights that sluice needs.',
      );
    return new CliError(`${address} cannot be used: ${message}`);
  }
  if (isStoreUnavailableError(error)) {
    const remedy = REMEDIES[error.reason];
    if (remedy !== undefined) return new CliError(`${address} cannot do this now: ${message}`, remedy);
    return noAnswer(address, message);
  }
  // An answer, and no failure. `@sluice/rules` is loaded by few commands, so its guard is not imported.
  if (isSluiceError(error) && error.code === 'SLUICE_RULES_CONFLICT')
    return new CliError(message, 'Run this again: it then shows what differs from that version.', 1);
  if (isSluiceError(error) || error instanceof RangeError || error instanceof TypeError)
    return new CliError(message);
  return new CliError(
    `sluice failed: ${message}`,
    'This is a mistake in sluice: please report it with the command you ran.',
  );
}
