import { commandsIn } from '../page/src/commands.js';

/** The commands of an advice. */
const commands = (advice: string) => {
  const parts = commandsIn(advice);
  expect(parts.map(({ text }) => text).join('')).toBe(advice);
  return parts.flatMap(({ text, isCommand }) => (isCommand ? [text] : []));
};

test.each([
  [
    'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
    ['CONFIG SET maxmemory-policy noeviction'],
  ],
  [
    'CONFIG SET min-replicas-to-write 1, and CONFIG SET min-replicas-max-lag 10',
    ['CONFIG SET min-replicas-to-write 1', 'CONFIG SET min-replicas-max-lag 10'],
  ],
  ['CONFIG SET maxclients to a higher number, and raise the limit of open files.', ['CONFIG SET maxclients']],
  ['ACL SETUSER app ~sluice:* &sluice:* +eval', ['ACL SETUSER app ~sluice:* &sluice:* +eval']],
  ['Wait for the failover; SENTINEL MASTER shows its state.', ['SENTINEL MASTER']],
  ['GRANT SELECT, INSERT ON limits TO the user of your processes.', ['GRANT SELECT', 'INSERT ON limits TO']],
  ['Mend what the error says, then run sluice doctor again.', ['sluice doctor']],
])('the command in "%s" is set as code', (advice, found) => {
  expect(commands(advice)).toEqual(found);
});

test.each([
  'Run NTP on both machines.',
  'Choose NoEviction in the console of the service.',
  'Update this process, or delete the keys sluice:v2:fleet:* that are not ours',
  '',
  ' , ; ',
])('the advice "%s" has no command', (advice) => {
  expect(commands(advice)).toEqual([]);
});
