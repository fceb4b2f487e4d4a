import { writeSync } from 'node:fs';
import { Client } from 'pg';
import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { postgresStore } from '../../../packages/postgres/src/index.js';
import { startsSecondTrip } from './second-trip.js';

// Takes permits, and writes a line for each answer. In its n-th turn it dies, as by the signal of another process.

/** `locked`: its keys are locked, and nothing is written. `sent`: COMMIT was sent, and its reply is not read. */
export type Moment = 'locked' | 'sent';

/** @param die is called in a turn of any connection, at that moment */
function dyingClient(url: string, moment: Moment, turn: () => boolean, die: () => void): Client {
  const client = new Client(url);
  const query = client.query.bind(client) as (statement: { text: string }) => unknown;
  const { stream } = (client as unknown as { connection: { stream: NodeJS.WritableStream } }).connection;
  let dies = false;
  const watched = (statement: { text: string }): unknown => {
    const writes = startsSecondTrip(statement);
    if (writes) dies = turn();
    if (writes && dies && moment === 'locked') die();
    const answer = query(statement);
    // It is called when the system has taken COMMIT.
    if (dies && moment === 'sent' && statement.text === 'COMMIT') stream.write('', die);
    return answer;
  };
  return Object.assign(client, { query: watched as Client['query'] });
}

async function main([url, moment, signal, turn, limit, deadline]: readonly string[]): Promise<void> {
  let turnsLeft = Number(turn);
  const isTurn = (): boolean => {
    turnsLeft -= 1;
    return turnsLeft === 0;
  };
  const die = (): void => void process.kill(process.pid, signal);
  const connect = () => dyingClient(url!, moment as Moment, isTurn, die);
  const store = postgresStore({ connect }).on('degraded', () => {});
  const policy = fixedWindow({ limit: Number(limit), window: '24h' });
  const limiter = new RateLimiter({ name: 'limits', policy, store, deadline: Number(deadline) });
  for (;;) {
    const { degraded } = await limiter.consume('k');
    writeSync(1, degraded ? 'degraded\n' : 'answered\n');
  }
}

void main(process.argv.slice(2));
