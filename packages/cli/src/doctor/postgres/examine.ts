import { reportInto } from '../check.js';
import { type Finding, LEVELS } from '../finding.js';
import { messageOf } from '../refusal.js';
import { type DoctorOptions, settingsOf } from '../settings.js';
import { notExamined } from '../unseen.js';
import type { PostgresCheck } from './check.js';
import { connections } from './checks/connections.js';
import { pooler } from './checks/pooler.js';
import { roundTrip } from './checks/round-trip.js';
import { server } from './checks/server.js';
import { table } from './checks/table.js';
import { transactions } from './checks/transactions.js';
import { vacuum } from './checks/vacuum.js';
import { codeOf, ExaminedPostgres, type PostgresPlace } from './server.js';

/** All checks, in the order in which findings of one level are reported. */
export const POSTGRES_CHECKS: readonly PostgresCheck[] = [
  server,
  pooler,
  connections,
  table,
  vacuum,
  transactions,
  roundTrip,
];

/** Described as a check is; without a connection it is the only one. */
export const CONNECTING = {
  about: 'connection',
  why: {
    unreachable: 'Calls get no answer: failure policies decide.',
    'wrong-password': 'Every call fails: failure policies decide.',
    'database-missing': 'Every call fails.',
  },
};

/**
 * Examines the Postgres of a store, and reports problems for limits. Only reads. Errors of the server are findings; the worst is first.
 * @throws RangeError for wrong options, and the reason of the signal
 */
export async function examinePostgres(place: PostgresPlace, options: DoctorOptions = {}): Promise<Finding[]> {
  const { timeout, deadline } = settingsOf(options);
  const examined = new ExaminedPostgres(place, timeout);
  const findings: Finding[] = [];
  try {
    if (await connected(examined, findings))
      for (const check of POSTGRES_CHECKS) {
        options.signal?.throwIfAborted();
        await run(check, examined, deadline, findings);
      }
  } finally {
    await examined.close();
  }
  options.signal?.throwIfAborted();
  return findings.sort((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
}

async function connected(examined: ExaminedPostgres, findings: Finding[]): Promise<boolean> {
  const report = reportInto(findings, CONNECTING, examined);
  const { name } = examined;
  try {
    await examined.connect();
    report.ok(`${name} answers`);
    return true;
  } catch (error) {
    const [code, message] = [codeOf(error), messageOf(error)];
    if (code.startsWith('28'))
      report.error(
        'wrong-password',
        `${name} refuses the login: ${message}`,
        'Give the user and the password in the address, or in PGUSER and PGPASSWORD.',
      );
    else if (code === '3D000')
      report.error(
        'database-missing',
        `${name} has no such database: ${message}`,
        'CREATE DATABASE, or another name in the address.',
      );
    else
      report.error(
        'unreachable',
        `${name} does not answer: ${message}`,
        'Check the address, the firewall and TLS (sslmode=require).',
      );
    return false;
  }
}

/** An error of the server is a finding, because the check is incomplete. */
async function run(
  check: PostgresCheck,
  examined: ExaminedPostgres,
  deadline: number,
  findings: Finding[],
): Promise<void> {
  try {
    await check.look(examined, reportInto(findings, check, examined), deadline);
  } catch (error) {
    if (codeOf(error) === '' && !/timeout|connection|terminated/i.test(messageOf(error))) throw error;
    findings.push(notExamined(check.about, messageOf(error), examined));
  }
}
