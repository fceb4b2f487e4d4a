import { count } from '../../words.js';
import { nodeCheck } from '../check.js';

/** Checks that the server accepts the connections of more processes. */
export const connections = nodeCheck({
  about: 'connections',
  why: {
    'connections-refused': 'A process without a connection gets no decisions: its failurePolicy decides.',
    'connections-many': 'When maxclients is reached, further processes are refused.',
  },
  look({ info }, report) {
    const refused = info.number('rejected_connections');
    const open = info.number('connected_clients');
    const most = info.optionalNumber('maxclients');
    const mend = 'CONFIG SET maxclients to a higher number, and raise the limit of open files.';
    if (refused !== undefined && refused > 0)
      report.warning(
        'connections-refused',
        `The server has refused ${count(refused, 'connection')} since its start`,
        mend,
      );
    if (open === undefined) return;
    const what = most === undefined ? count(open, 'connection') : `${open} of ${count(most, 'connection')}`;
    if (most !== undefined && open >= 0.8 * most) report.warning('connections-many', what, mend);
    else report.ok(what);
  },
});
