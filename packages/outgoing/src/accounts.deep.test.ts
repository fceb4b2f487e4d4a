import { retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { standardHeaders } from './index.js';

test('accounts that callers make up do not grow the memory of a process without end', async () => {
  const up = new ScriptedUpstream();
  let accounts = 0;
  const account = () => {
    accounts += 1;
    return `made-up-${accounts}`;
  };
  up.answer = () => retryAfter(600);
  const client = up.client({ reads: [standardHeaders({ scope: 'account' })], retry: false, account });
  for (let i = 0; i < 15_000; i += 1) await client.fetch('/a');
  expect((await client.state()).length).toBeLessThanOrEqual(10_000);
  await up.close();
});
