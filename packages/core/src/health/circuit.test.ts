import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailableError, type UnavailableReason } from '../errors.js';
import { Circuit } from './circuit.js';

const failure = (reason: UnavailableReason = 'timeout') =>
  new StoreUnavailableError('out', { reason, late: reason === 'timeout' });
const never = () => new Promise<never>(() => {});

function circuit() {
  const told: string[] = [];
  const one = new Circuit({
    opened: (error) => told.push(`opened: ${error.reason}`),
    closed: (after) => told.push(after >= 0 ? 'closed' : 'closed before it opened'),
  });
  return { one, told };
}

async function until(so: () => boolean): Promise<void> {
  while (!so()) await sleep(5);
}

test('five failures in a row open it, and a success resets the count', () => {
  const { one, told } = circuit();
  for (let i = 0; i < 4; i += 1) one.failed(one.enter(), failure(), never);
  one.succeeded(one.enter());
  for (let i = 0; i < 4; i += 1) one.failed(one.enter(), failure(), never);
  expect(one.error).toBeUndefined();
  const last = failure();
  one.failed(one.enter(), last, never);
  expect(one.error).toBe(last);
  expect(told).toEqual(['opened: timeout']);
  one.end();
});

test('all calls of a lost connection are one failure; each missed deadline is one', () => {
  const { one, told } = circuit();
  const lost = Array.from({ length: 50 }, () => one.enter());
  for (const ticket of lost) one.failed(ticket, failure('connection'), never);
  expect(one.error).toBeUndefined();
  const late = Array.from({ length: 4 }, () => one.enter());
  for (const ticket of late) one.failed(ticket, failure('timeout'), never);
  expect(told).toEqual(['opened: timeout']);
  one.end();
});

test('it probes until there is an answer, lets one call through, and closes when that call is decided', async () => {
  const { one, told } = circuit();
  let answers = false;
  let probes = 0;
  const probe = async () => {
    probes += 1;
    if (!answers) throw failure();
  };
  for (let i = 0; i < 5; i += 1) one.failed(one.enter(), failure(), probe);
  await until(() => probes >= 2);
  expect(one.error).toBeDefined();
  answers = true;
  await until(() => one.error === undefined);
  const trial = one.enter();
  expect(one.error).toBeDefined(); // only one
  one.succeeded(trial);
  expect(one.error).toBeUndefined();
  expect(told).toEqual(['opened: timeout', 'closed']);
});

test('a store that answers but does not decide stays out, without another event', async () => {
  const { one, told } = circuit();
  const probe = async () => {};
  for (let i = 0; i < 5; i += 1) one.failed(one.enter(), failure('OOM'), probe);
  for (let trials = 0; trials < 2; trials += 1) {
    await until(() => one.error === undefined);
    one.failed(one.enter(), failure('READONLY'), probe);
    expect(one.error).toMatchObject({ reason: 'READONLY' });
  }
  one.succeeded(0); // of a call that was let in before it opened
  expect(one.error).toBeDefined();
  expect(told).toEqual(['opened: OOM']);
  one.end();
});

test('probes do not keep the process alive, and end with the store', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const { one } = circuit();
  const probe = jest.fn(never);
  for (let i = 0; i < 5; i += 1) one.failed(one.enter(), failure(), probe);
  expect(timers()).toBe(before);
  one.end();
  await sleep(150);
  expect(probe).not.toHaveBeenCalled();
  for (let i = 0; i < 9; i += 1) one.failed(one.enter(), failure(), probe);
  expect(one.error).toBeUndefined();
});
