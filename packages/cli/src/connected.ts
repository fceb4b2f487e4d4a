import { CliError, cliErrorOf } from './cli-error.js';
import type { Connection } from './connection.js';
import { whyOut } from './why-out.js';

/** Connects now. @throws CliError, or an error of the store, with the reason of each server */
export async function connected(connection: Connection): Promise<void> {
  try {
    await askedOf(connection, connection.store.connect());
  } catch (error) {
    throw await whyOut(error, connection);
  }
}

/** A server waits in silence for the rest of a hello that it does not understand. */
function aboutTls(address: string): string {
  if (address.startsWith('rediss://')) return ' If it speaks no TLS: redis://, without --tls.';
  return address.includes('://') && !address.startsWith('redis://')
    ? ''
    : ' If it wants TLS: rediss:// or --tls.';
}

/** The answer of a store. Rejects after the deadline, also if the server is frozen. */
export function askedOf<T>({ deadline, address }: Connection, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(
        new CliError(
          `${address} did not answer within ${deadline} ms.`,
          `Give it longer with --deadline 10s.${aboutTls(address)}`,
        ),
      );
    const timer = setTimeout(late, deadline);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The same for a second store of a command: errors name its address. @throws CliError */
export async function askedOfOther<T>(connection: Connection, answer: Promise<T>): Promise<T> {
  try {
    return await askedOf(connection, answer);
  } catch (error) {
    throw cliErrorOf(error, connection.address);
  }
}
