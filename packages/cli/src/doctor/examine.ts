import { type Check, type Report, reportInto } from './check.js';
import { CHECKS } from './checks/index.js';
import { type Deployment, openDeployment } from './deployment.js';
import { type Finding, LEVELS } from './finding.js';
import { measure } from './measure.js';
import { type DoctorNode, NoAnswerError } from './node.js';
import { messageOf } from './refusal.js';
import { type Connection, type DoctorOptions, type Settings, settingsOf } from './settings.js';
import { notExamined, unseenFindings } from './unseen.js';

/**
 * Examines a Redis, its replicas, its sentinels or its cluster, and reports problems for limits. Only reads. Errors of servers are
 * findings; the worst is first.
 * @throws RangeError for wrong options, and the reason of the signal
 */
export async function examine(connection: Connection, options: DoctorOptions = {}): Promise<Finding[]> {
  const { timeout, total, ...settings } = settingsOf(options);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), total);
  const { signal } = options;
  const interrupt = () => end.abort();
  signal?.addEventListener('abort', interrupt);
  const deployment = await openDeployment(connection, { timeout, signal: end.signal });
  try {
    // Runs alone on the connection: other calls would slow it down.
    await Promise.all(answering(deployment).map((node) => measure(node).catch(lost)));
    signal?.throwIfAborted();
    const found = await Promise.all(CHECKS.map((check) => run(check, deployment, settings)));
    const findings = [...found.flat(), ...unseenFindings(deployment)];
    signal?.throwIfAborted();
    return findings.sort((a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', interrupt);
    for (const { node } of deployment.sentinels?.opinions ?? []) node.close();
    for (const node of deployment.nodes) node.close();
  }
}

const answering = ({ nodes }: Deployment) => nodes.filter(({ failure }) => failure === undefined);

/** A server that stops answering has a `failure`, which the checks report. */
function lost(error: unknown): void {
  if (!(error instanceof NoAnswerError)) throw error;
}

async function run(check: Check, deployment: Deployment, settings: Settings): Promise<Finding[]> {
  if ('compare' in check) {
    return watched(check, undefined, (report) => check.compare(deployment, report, settings));
  }
  const nodes = answering(deployment).filter(({ isReplica }) => check.of !== 'primaries' || !isReplica);
  const found = await Promise.all(
    nodes.map((node) => watched(check, node, (report) => check.look(node, report, settings, deployment))),
  );
  return found.flat();
}

/** An error of the server is a finding, because the check is incomplete. */
async function watched(
  check: Check,
  node: DoctorNode | undefined,
  look: (report: Report) => unknown,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    await look(reportInto(findings, check, node));
  } catch (error) {
    if (!(error instanceof NoAnswerError) && (error as Error).name !== 'ReplyError') throw error;
    findings.push(notExamined(check.about, messageOf(error), node));
  }
  return findings;
}
