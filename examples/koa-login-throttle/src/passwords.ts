import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const hash = promisify<string, Buffer, number, Buffer>(scrypt);
const salt = randomBytes(16);

/** The demo's accounts. */
const accounts = new Map([
  ['ann', hash('correct horse', salt, 32)],
  ['ben', hash('battery staple', salt, 32)],
]);
const nobody = hash('', salt, 32);

/** Takes the same time for an unknown account. */
export async function isRight(account: string, password: string): Promise<boolean> {
  const [known, given] = await Promise.all([accounts.get(account) ?? nobody, hash(password, salt, 32)]);
  return timingSafeEqual(known, given) && accounts.has(account);
}
