import { isStoreConfigurationError, isStoreUnavailableError } from '../../errors.js';
import { classified, NoConnectionError, withoutCommand } from './errors.js';

class ReplyError extends Error {
  override readonly name = 'ReplyError';
}
const withParts = (message: string, parts: object) => Object.assign(new Error(message), parts);

describe('classified as unavailable', () => {
  test.each([
    ['LOADING', 'LOADING Redis is loading the dataset in memory'],
    ['BUSY', 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'],
    [
      'BUSY',
      'ERR Error running script (call to f_a): @user_script:1: Script killed by user with SCRIPT KILL...',
    ],
    ['OOM', "OOM command not allowed when used memory > 'maxmemory'."],
    [
      'OOM',
      "ERR Error running script (call to f_a): @user_script:9: -OOM command not allowed when used memory > 'maxmemory'.",
    ],
    [
      'MISCONF',
      'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
    ],
    ['READONLY', "READONLY You can't write against a read only replica. script: f_a, on @user_script:9."],
    [
      'READONLY',
      "ERR Error running script (call to f_a): @user_script:9: -READONLY You can't write against a read only replica.",
    ],
    ['MASTERDOWN', "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
    ['NOREPLICAS', 'NOREPLICAS Not enough good replicas to write.'],
    ['CLUSTERDOWN', 'CLUSTERDOWN The cluster is down'],
    ['CLUSTERDOWN', 'CLUSTERDOWN Hash slot not served'],
    ['TRYAGAIN', 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['TRYAGAIN', 'Too many Cluster redirections. Last error: ReplyError: TRYAGAIN Multiple keys request'],
    ['connection', 'Too many Cluster redirections. Last error: ReplyError: MOVED 8579 127.0.0.1:42995'],
    [
      'connection',
      'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    ],
    ['NOPERM', "NOPERM this user has no permissions to run the 'evalsha' command"],
    ['NOPERM', 'NOPERM ACL failure in script: No permissions to access a key'],
    [
      'NOPERM',
      "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
    ],
    ['WRONGPASS', 'WRONGPASS invalid username-password pair or user is disabled.'],
    ['WRONGPASS', 'ERR invalid password'],
    ['NOAUTH', 'NOAUTH Authentication required.'],
    ['NOAUTH', 'NOAUTH HELLO must be called with the client already authenticated'],
    [
      'NOAUTH',
      'All sentinels are unreachable. Retrying from scratch after 10ms. Last error: NOAUTH Authentication required.',
    ],
    ['connection', 'ERR max number of clients reached'],
    ['connection', 'ERR max daily request limit exceeded. Limit: 10000, Usage: 10001.'],
  ])('%s: %s', (reason, message) => {
    for (const error of [new ReplyError(message), new Error(message)]) {
      const result = classified(error);
      expect(isStoreUnavailableError(result) && result).toMatchObject({ reason, cause: error });
      expect(result.message).toContain(message);
    }
  });

  test.each([
    ['timeout', 'Command timed out'], // ioredis, iovalkey
    ['connection', 'Connection is closed.'],
    ['connection', "Stream isn't writeable and enableOfflineQueue options is false"],
    [
      'connection',
      'Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option',
    ],
    ['connection', "Socket timeout. Expecting data, but didn't receive any in 300ms."],
    ['connection', 'connect ETIMEDOUT'],
    [
      'connection',
      'All sentinels are unreachable. Retrying from scratch after 10ms. Last error: connect ECONNREFUSED',
    ],
    ['connection', 'Failed to refresh slots cache.'],
    ['connection', "Cluster isn't ready and enableOfflineQueue options is false"],
    ['connection', 'None of startup nodes is available'],
    ['connection', 'Command aborted due to connection close'],
    ['timeout', 'Command timeout during maintenance. Waited to write command for more than 10000ms.'], // node-redis
    ['connection', 'Socket closed unexpectedly'],
    ['connection', 'The client is offline'],
    ['connection', 'Connection timeout'],
    ['connection', 'All the root nodes are unavailable'],
    ['connection', 'self-signed certificate in certificate chain'], // TLS
    [
      'connection',
      "Hostname/IP does not match certificate's altnames: Host: 127.0.0.1. is not cert's CN: redis",
    ],
    ['connection', 'write EPROTO 00:error:0A00010B:SSL routines:ssl3_get_record:wrong version number'],
    ['connection', 'read ECONNRESET'],
    ['connection', 'getaddrinfo ENOTFOUND redis.internal'],
  ])('%s: %s', (reason, message) => {
    const result = classified(new Error(message));
    expect(isStoreUnavailableError(result) && result.reason).toBe(reason);
    expect(result.message).not.toMatch(/maxRetriesPerRequest|Stream isn't writeable/);
  });
});

describe('classified as misconfigured', () => {
  test.each([
    [
      'WRONGTYPE',
      'WRONGTYPE Operation against a key holding the wrong kind of value script: f_a, on @user_script:9.',
    ],
    ['other', 'DENIED Redis is running in protected mode because protected mode is enabled'],
    ['other', "ERR unknown command 'EVALSHA', with args beginning with: "],
    ['other', 'ERR This instance has cluster support disabled'],
    ['other', 'ERR invalid DB index'],
    ['other', "CROSSSLOT Keys in request don't hash to the same slot"],
    ['other', 'MOVED 8579 127.0.0.1:42995'],
    ['other', 'ERR user_script:22: SLUICE nothing of ours: LOADING NOPERM'],
  ])('%s: %s', (reason, message) => {
    for (const error of [new ReplyError(message), new Error(message)]) {
      const result = classified(error);
      expect(isStoreConfigurationError(result) && result).toMatchObject({ reason, cause: error });
      expect(result.message).toContain(message);
    }
  });
});

test("a caller's key in a script error does not change the class, and only `cause` contains it", () => {
  const cause = new ReplyError(
    'ERR user_script:22: SLUICE foreign value in sluice:v2:fw:x:{LOADING NOPERM WRONGPASS}',
  );
  const result = classified(cause);
  expect(isStoreConfigurationError(result) && result).toMatchObject({ reason: 'other', cause });
  expect(result.message).toBe('redisStore: a key of this limit holds a foreign value; `cause` names it');
});

test('an error that wraps others has their class', () => {
  const down = new AggregateError([
    new Error('connect ECONNREFUSED ::1:6379'),
    new Error('connect ECONNREFUSED 127.0.0.1:6379'),
  ]);
  expect(classified(down).message).toMatch(/::1:6379; connect ECONNREFUSED 127\.0\.0\.1:6379$/);
  const nodes = withParts('Failed to refresh slots cache.', {
    lastNodeError: new ReplyError('WRONGPASS invalid'),
  });
  expect(classified(nodes)).toMatchObject({
    reason: 'WRONGPASS',
    message: expect.stringContaining('WRONGPASS invalid'),
  });
  const redirected = withParts('Too many Cluster redirections', {
    cause: new ReplyError('TRYAGAIN Multiple keys'),
  });
  expect(classified(redirected).reason).toBe('TRYAGAIN');
  const own = new Error('odd');
  own.cause = own;
  expect(classified(own).reason).toBe('connection');
});

test('without a connection, the last error of the connection is the reason', () => {
  const none = new NoConnectionError('no connection');
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:6379');
  expect(classified(none, refused)).toMatchObject({
    reason: 'connection',
    message: 'redisStore: no connection (connect ECONNREFUSED 127.0.0.1:6379)',
    cause: refused,
  });
  expect(classified(none, new ReplyError('WRONGPASS invalid'))).toMatchObject({
    reason: 'WRONGPASS',
    message: expect.stringMatching(
      /^redisStore: the server refuses the login: give .* \(WRONGPASS invalid\)$/,
    ),
  });
  expect(classified(none, new ReplyError('LOADING Redis is loading')).reason).toBe('LOADING');
  // A reply to this call takes precedence over an error of another one.
  expect(classified(new ReplyError('OOM command not allowed'), refused).reason).toBe('OOM');
});

test('withoutCommand removes only the command, also from errors of cluster nodes', () => {
  const command = { name: 'hello', args: ['AUTH', 'secret'] };
  const error = Object.assign(new ReplyError('WRONGPASS no'), { command, code: 'x' });
  const all = withParts('None of the nodes is available', { lastNodeError: error });
  for (const one of [
    withoutCommand(error),
    (withoutCommand(all) as { lastNodeError?: Error }).lastNodeError,
  ]) {
    expect(one).toMatchObject({ name: 'ReplyError', message: 'WRONGPASS no', code: 'x', stack: error.stack });
    expect(one).not.toHaveProperty('command');
  }
  expect(classified(withoutCommand(all))).toMatchObject({ reason: 'WRONGPASS' });
  const other = new Error('connect ECONNREFUSED');
  expect(withoutCommand(other)).toBe(other);
});
