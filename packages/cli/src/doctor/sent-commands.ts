/** A command that limiters send, and the effect if the user lacks the right. */
export interface SentCommand {
  /** The rule of the ACL that grants it: a command, or a pattern of channels. */
  readonly rule: string;
  /** Arguments with a key of Sluice, for `ACL DRYRUN`. */
  readonly args: (prefix: string) => readonly string[];
  /** The effect without it. Undefined: calls fail. */
  readonly without?: string;
  /** Sent only in a cluster? */
  readonly inCluster?: true;
}

const key = (prefix: string): string => `${prefix}:v2:tb:doctor:{doctor}`;
const sent = (rule: string, args: (key: string) => readonly string[], without?: string): SentCommand => ({
  rule,
  args: (prefix) => [...rule.slice(1).split('|'), ...args(key(prefix))],
  ...(without !== undefined && { without }),
});
const inCluster = (command: SentCommand): SentCommand => ({ ...command, inCluster: true });

/** The keys of the notice board ignore the prefix. */
const BOARD = 'sluice:v2:fleet:definitions:{index}';
const CHANNEL = 'sluice:v2:fleet:denials';
const SLOWER = 'a decision takes longer, and each script call leaves a line in ACL LOG';
const UNKNOWN = 'processes publish nothing about their limiters, so tools do not know them by name';

/** The channel of the notice board also ignores the prefix. */
export const ON_CHANNEL: SentCommand = {
  rule: '&sluice:v2:fleet:*',
  args: () => ['publish', CHANNEL, ''],
  without: 'sluice tail and the live page do not see what processes deny',
};

/** What servers from Redis 8.4 and Valkey 9.1 on know. */
export const IN_NEWER: SentCommand = sent('+msetex', (k) => ['1', k, '', 'KEEPTTL'], SLOWER);

/** All commands that the line in docs/operations.md grants. A test compares them. */
export const SENT_COMMANDS: readonly SentCommand[] = [
  sent('+eval', (k) => ['return 1', '1', k]),
  sent('+evalsha', (k) => ['0000000000000000000000000000000000000000', '1', k]),
  sent('+get', (k) => [k]),
  sent('+mget', (k) => [k], SLOWER),
  sent('+set', (k) => [k, '']),
  sent('+setrange', (k) => [k, '0', ''], SLOWER),
  sent('+del', (k) => [k]),
  sent('+time', () => []),
  sent('+pttl', (k) => [k]),
  sent('+pexpire', (k) => [k, '1']),
  sent('+publish', (k) => [k, '']),
  sent('+subscribe', (k) => [k]),
  sent('+unsubscribe', (k) => [k], 'channels stay subscribed until their connection ends'),
  sent('+info', () => [], 'a server that is loading, or no primary, is taken for ready'),
  sent('+client|setname', () => ['sluice'], 'connections have no name'),
  sent('+zadd', () => [BOARD, '0', 'x'], UNKNOWN),
  sent('+zrange', () => [BOARD, '0', '-1'], UNKNOWN),
  sent('+zremrangebyscore', () => [BOARD, '0', '0'], UNKNOWN),
  inCluster(sent('+cluster|slots', () => [])),
  inCluster(sent('+cluster|info', () => [])),
  inCluster(sent('+asking', () => [])),
];
