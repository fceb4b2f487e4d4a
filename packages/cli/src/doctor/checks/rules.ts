import { readDefinitions } from '@sluice/fleet';
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
    const running = fleet.flatMap(({ host, pid, rules = [] }) =>
      rules.map((one) => ({ ...one, process: `${host}:${pid}` })),
    );
    for (const name of [...new Set(running.map((one) => one.name))].sort()) {
      const all = running.filter((one) => one.name === name);
      const troubled = all.filter(({ problem }) => problem !== undefined);
      if (troubled.length > 0)
        report.warning(
          'rules-refused',
          `${troubled.length} of ${all.length} processes with the rules '${name}' cannot load the latest version; ${troubled[0]!.process}: ${troubled[0]!.problem}`,
          `sluice check the file, then sluice push it or sluice rollback --rules ${name}; sluice rules ${name} lists the processes.`,
        );
      const versions = new Map(
        all.map(({ fingerprint, version }) => [fingerprint, String(version ?? 'unnamed')]),
      );
      const shown = [...versions.values()].sort().join(' and ');
      if (versions.size > 1)
        report.note(
          'rules-mixed',
          `Processes run different texts of the rules '${name}': versions ${shown}`,
          `Look again in a minute. sluice rules ${name} lists the processes.`,
        );
      else if (troubled.length === 0) report.ok(`${all.length} run the rules '${name}', version ${shown}`);
    }
  },
});
