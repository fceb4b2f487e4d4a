import { readDefinitions } from '@sluice/fleet';
import { rulesProblems } from '../../fleet-problems.js';
import { count, listText } from '../../words.js';
import { deploymentCheck } from '../check.js';
import { notesOn } from './processes.js';

/** Checks the rules that processes use. */
export const rules = deploymentCheck({
  about: 'rules',
  why: {
    'rules-refused': 'The processes keep the last good version, and a process that starts now has none.',
    'rules-mixed': 'For a moment after a change that is normal. Afterwards callers meet different limits.',
  },
  async compare({ nodes }, report) {
    const primaries = nodes.filter(({ failure, isReplica }) => failure === undefined && !isReplica);
    const fleet = await readDefinitions({ fleet: { read: () => notesOn(primaries) } });
    const problems = rulesProblems(fleet);
    for (const { id, level, what, next } of problems)
      report[level](
        id as 'rules-refused' | 'rules-mixed',
        what,
        level === 'warning'
          ? `sluice check the file, then sluice push it or sluice rollback --${next}; sluice ${next} lists the processes.`
          : `Look again in a minute. sluice ${next} lists the processes.`,
      );
    const running = fleet.filter(({ rules: own = [] }) => own.length > 0);
    if (problems.length === 0 && running.length > 0) {
      const versions = running.flatMap(({ rules: own = [] }) =>
        own.map(({ name, version }) => `'${name}', version ${version ?? 'unnamed'}`),
      );
      report.ok(
        `${count(running.length, 'process runs', 'processes run')} the rules ${listText([...new Set(versions)].sort())}`,
      );
    }
  },
});
