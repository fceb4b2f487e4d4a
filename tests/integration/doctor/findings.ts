import { examine } from '../../../packages/cli/src/doctor/examine.js';
import type { Finding } from '../../../packages/cli/src/doctor/finding.js';
import type { Connection, DoctorOptions } from '../../../packages/cli/src/doctor/settings.js';

/** Findings that a busy machine causes, and that these tests ignore. */
const PATIENT: DoctorOptions = { deadline: 60_000, timeout: 10_000 };

export const findingsAt = (
  connection: string | Connection,
  options: DoctorOptions = {},
): Promise<Finding[]> =>
  examine(typeof connection === 'string' ? { url: connection } : connection, { ...PATIENT, ...options });

/** A finding in one line: level, id, what. */
export const lineOf = ({ level, id, what }: Finding): string => `${level} ${id}: ${what}`;

/** The findings with an id, as lines. */
export async function linesOf(
  id: string,
  connection: string | Connection,
  options: DoctorOptions = {},
): Promise<string[]> {
  const findings = await findingsAt(connection, options);
  return findings.filter((finding) => finding.id === id).map(lineOf);
}
