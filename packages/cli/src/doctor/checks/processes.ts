import type { FleetNote } from '@sluice/core/internal';
import { readDefinitions } from '@sluice/fleet';
import { count } from '../../words.js';
import { deploymentCheck } from '../check.js';
import { type DoctorNode, NoAnswerError, type Reply } from '../node.js';
import { messageOf } from '../refusal.js';

const BOARD = 'sluice:v2:fleet:definitions';
/** The most processes that are read. */
const MOST = 100;
/** The most characters of a text. Longer texts are ignored. */
const MOST_BYTES = 1_000_000;
const PROCESS = /^[\w-]{1,64}$/;

/** Checks the processes that published their limiters. */
export const processes = deploymentCheck({
  about: 'processes',
  why: {
    'versions-mixed': 'During an update that is normal. Afterwards some processes lack what the others have.',
    'prefix-other': 'This examination looks at the keys and the rights of one keyPrefix only.',
  },
  async compare({ nodes }, report, { prefix }) {
    const primaries = nodes.filter(({ failure, isReplica }) => failure === undefined && !isReplica);
    const fleet = await readDefinitions({ fleet: { read: () => notesOn(primaries) } });
    const versions = [...new Set(fleet.map(({ version }) => version))].sort();
    if (versions.length > 1)
      report.note(
        'versions-mixed',
        `Processes run the versions ${versions.join(' and ')}`,
        'Finish the update.',
      );
    const prefixes = new Set(fleet.flatMap(({ limiters }) => limiters.map(({ keyPrefix }) => keyPrefix)));
    prefixes.delete(prefix);
    for (const other of [...prefixes].sort())
      report.note(
        'prefix-other',
        `There are limiters with the keyPrefix ${other}`,
        `sluice doctor --prefix ${other}`,
      );
    if (fleet.length > 0)
      report.ok(
        `${count(fleet.length, 'process has published its', 'processes have published their')} limiters, version ${versions.join(', ')}`,
      );
  },
});

/** Reads the notice board by commands that cannot write. Other programs can also write to it. */
export async function notesOn(primaries: readonly DoctorNode[]): Promise<FleetNote[]> {
  const listed = await askOwner(primaries, 'ZRANGE', `${BOARD}:{index}`, -MOST, -1);
  const names = Array.isArray(listed) ? listed.map(String).filter((name) => PROCESS.test(name)) : [];
  return Promise.all(
    names.map(async (process) => {
      const text = await askOwner(primaries, 'GETRANGE', `${BOARD}:{${process}}`, 0, MOST_BYTES);
      return { process, age: 0, text: typeof text === 'string' ? text : '' };
    }),
  );
}

/** Sends the command to the node that has the key, because other nodes redirect. @returns undefined for a key of another type */
async function askOwner(
  primaries: readonly DoctorNode[],
  ...command: readonly (string | number)[]
): Promise<Reply | undefined> {
  for (const node of primaries) {
    try {
      return await node.ask('the limiters of processes', ...command);
    } catch (error) {
      if (error instanceof NoAnswerError || !/^(?:MOVED|ASK|CLUSTERDOWN|WRONGTYPE)\b/.test(messageOf(error)))
        throw error;
    }
  }
  return undefined;
}
