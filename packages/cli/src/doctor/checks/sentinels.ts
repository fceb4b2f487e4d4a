import { count } from '../../words.js';
import { deploymentCheck } from '../check.js';
import { nameOf } from '../node.js';

/** Checks that the sentinels answer and agree. */
export const sentinels = deploymentCheck({
  about: 'sentinels',
  why: {
    'sentinel-unreachable':
      'Processes ask the others. With too few of them nobody finds the primary, and no failover happens.',
    'sentinel-unknown-name': 'Without the address of a primary no call is decided.',
    'sentinels-disagree': 'Processes may follow different primaries: each of them admits the limit.',
    'sentinel-no-quorum':
      'If the primary is lost, no replica is promoted: the failurePolicy decides until it is back.',
    'sentinels-few': 'A majority of three survives the loss of one; of two it does not.',
    'primary-down': 'The failurePolicy decides until a replica is promoted.',
  },
  compare({ sentinels: found }, report) {
    if (found === undefined) return;
    const { name, opinions, primaries } = found;
    for (const { node, failure, primary, noQuorum, flags = [] } of opinions) {
      const sentinel = `The sentinel ${node.name}`;
      if (failure !== undefined)
        report.warning(
          'sentinel-unreachable',
          `${sentinel} does not answer: ${failure}`,
          'Check its address, its password and the process.',
        );
      else if (primary === undefined && node.refusals.length === 0)
        report.error(
          'sentinel-unknown-name',
          `${sentinel} does not know '${name}'`,
          'Use the name of sentinel monitor, such as mymaster.',
        );
      if (noQuorum !== undefined)
        report.error(
          'sentinel-no-quorum',
          `${sentinel}: ${noQuorum}`,
          'Start further sentinels, or lower the quorum.',
        );
      const down = flags.find((flag) => /^[so]_down$/.test(flag));
      if (down !== undefined)
        report.error(
          'primary-down',
          `${sentinel} does not reach the primary (${down})`,
          'Wait for the failover; SENTINEL MASTER shows its state.',
        );
    }
    if (primaries.length > 1)
      report.error(
        'sentinels-disagree',
        `The sentinels name ${primaries.length} primaries of '${name}': ${primaries.map(nameOf).join(', ')}`,
        `SENTINEL RESET ${name} on the sentinel that is wrong`,
      );
    const known = Math.max(0, ...opinions.map(({ others }) => (others ?? -1) + 1));
    if (known > 0 && known < 3)
      report.warning(
        'sentinels-few',
        `There ${known === 1 ? 'is' : 'are'} ${count(known, 'sentinel')}`,
        'Run three, on three machines.',
      );
    if (primaries.length === 1)
      report.ok(
        `${count(opinions.filter(({ primary }) => primary !== undefined).length, 'sentinel names', 'sentinels name')} ${nameOf(primaries[0]!)} as primary`,
      );
  },
});
