import type { Deployment } from './deployment.js';
import type { Finding } from './finding.js';
import type { DoctorNode } from './node.js';
import { type Refusal, ruleOf } from './refusal.js';

const why = 'What could not be read may be wrong: this is no sign that all is well.';

/** Ids of the findings of this file, which any check can cause. */
export const UNSEEN_IDS = ['not-permitted', 'not-offered', 'not-reported', 'not-examined'] as const;

/** Most checks need these replies. */
const ESSENTIAL = ['INFO', 'TIME'];

/** One finding for each command that was refused and for the fields that `INFO` lacks, on each server. */
export function unseenFindings({ nodes, sentinels, user }: Deployment): Finding[] {
  const servers = [...nodes, ...(sentinels?.opinions ?? []).map(({ node }) => node)];
  return servers.flatMap((node) => [...refused(node, user), ...notReported(node)]);
}

function refused({ refusals, name }: DoctorNode, user: string): Finding[] {
  const commands = new Map<string, Refusal[]>();
  for (const refusal of refusals)
    commands.set(refusal.command, [...(commands.get(refusal.command) ?? []), refusal]);
  return [...commands].map(([command, all]) => {
    const about = [...new Set(all.map((refusal) => refusal.about))].join(', ');
    const level = ESSENTIAL.includes(command) ? 'warning' : 'note';
    if (all[0]!.kind === 'permission')
      return {
        id: 'not-permitted',
        level,
        what: `The user '${user}' may not run ${command}, so these were not looked at: ${about}`,
        why,
        fix: `ACL SETUSER ${user} ${ruleOf(command)}, or run sluice doctor as a user who may`,
        node: name,
      };
    return {
      id: 'not-offered',
      level,
      what: `The server refuses ${command}, so these were not looked at: ${about}`,
      why,
      fix: 'Look in the console of the service, or at rename-command in redis.conf.',
      node: name,
    };
  });
}

function notReported({ info, name }: DoctorNode): Finding[] {
  if (info.missing.size === 0) return [];
  const what = `INFO of this server lacks ${[...info.missing].join(', ')}`;
  const fix = 'Look in the console of the service. If a proxy answers, connect to the server itself.';
  return [{ id: 'not-reported', level: 'note', what, why, fix, node: name }];
}

/** A finding for a check that an error ended. */
export function notExamined(
  about: string,
  error: string,
  node: Pick<DoctorNode, 'name'> | undefined,
): Finding {
  return {
    id: 'not-examined',
    level: 'warning',
    what: `${about} could not be examined: ${error}`,
    why,
    fix: 'Mend what the error says, then run sluice doctor again.',
    ...(node !== undefined && { node: node.name }),
  };
}
