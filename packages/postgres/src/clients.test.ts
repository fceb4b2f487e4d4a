import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../tests/support/eventually.js';
import { linkOf, type PgClient } from './clients.js';

/** A client of `pg` whose server does what `end` says. */
function clientOf(end: () => Promise<unknown>) {
  const destroy = jest.fn();
  const unused = (): never => {
    throw new Error('unused');
  };
  const client: PgClient = { connect: unused, query: unused, on: unused, end };
  return { link: linkOf(Object.assign(client, { connection: { stream: { destroy } } })), destroy };
}

test('a connection to a silent server is destroyed a second after its end began', async () => {
  const { link, destroy } = clientOf(() => new Promise(() => {}));
  link.end(false);
  await sleep(100); // for a graceful end
  expect(destroy).not.toHaveBeenCalled();
  await eventually(async () => destroy.mock.calls.length === 1);
});

test('a connection that ends gracefully is not destroyed', async () => {
  const { link, destroy } = clientOf(async () => {});
  link.end(false);
  await sleep(1_200);
  expect(destroy).not.toHaveBeenCalled();
});
