import { deploymentCheck } from '../check.js';
import { messageOf } from '../refusal.js';

/** Servers that do not answer, or not to this user. */
export const unreachable = deploymentCheck({
  about: 'connection',
  why: {
    unreachable: 'Limiters get no decision from this server: their failurePolicy decides.',
    'wrong-password': 'Limiters get no decision from this server: their failurePolicy decides.',
    'replica-unreachable':
      'From here nobody can tell whether its clock and its settings fit. It may be the next primary.',
  },
  compare({ nodes }, report) {
    for (const { failure, name, expected } of nodes) {
      if (failure === undefined) continue;
      const text = messageOf(failure);
      const what = `${name} does not answer: ${text}`;
      if (/^(?:WRONGPASS|NOAUTH|ERR.*AUTH.*password)/.test(text))
        report.error(
          'wrong-password',
          `${name} refuses the sign-in: ${text}`,
          'Pass the user and the password that the server takes: redis://user:password@host:port. Processes with a store of their own need them, too.',
        );
      else if (expected === 'replica') report.warning('replica-unreachable', what, remedy(text));
      else report.error('unreachable', what, remedy(text));
    }
    if (nodes.every(({ failure }) => failure === undefined) && nodes.length > 0)
      report.ok(`${nodes.length === 1 ? nodes[0]!.name : `${nodes.length} servers`} answered`);
  },
});

function remedy(error: string): string {
  if (/^BUSY/.test(error))
    return 'SCRIPT KILL ends the script; if it has written, only SHUTDOWN NOSAVE does.';
  if (/^LOADING/.test(error)) return 'Wait until the server has loaded its data.';
  if (/ENOTFOUND|EAI_AGAIN/.test(error)) return 'Check the name of the host.';
  if (/certificate|altname|self.signed/i.test(error))
    return "Pass the authority's certificate, and the name that the certificate has.";
  if (/SSL|wrong version|EPROTO/i.test(error))
    return 'The server speaks no TLS: use redis:// instead of rediss://.';
  return 'Check the address, the firewall and the server; use rediss:// if it wants TLS. In a cluster set cluster-announce-ip, or natMap.';
}
