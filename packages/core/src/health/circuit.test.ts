import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../../tests/support/eventually.js';
import { StoreUnavailableError, type UnavailableReason } from '../errors.js';
import { Circuit, whileOpen } from './circuit.js';

const failure = (reason: UnavailableReason = 'timeout') =>
  new StoreUnavailableError('out', { reason, late: reason === 'timeout' });
const never = () => new Promise<never>(() => {});

function circuit() {
  const events: string[] = [];
  const one = new Circuit({
    opened: (error) => events.push(`opened: ${error.reason}`),
    closed: (after) => events.push(after >= 0 ? 'closed' : 'closed before it opened'),
  });
  return { one, events };
}

test('five failures in a row open the circuit, and a success resets the count', () => {
  const { one, events } = circuit();
  for (let i = 0; i < 4; i += 1) one.failed(one.enter(), failure(), never);
  one.succeeded(one.enter());
  for (let i = 0; i < 4; i += 1) one.failed(one.enter(), failure(), never);
  expect(one.error).toBeUndefined();
  const last = failure();
  one.failed(one.enter(), last, never);
  expect(one.error).toBe(last);
  expect(events).toEqual(['opened: timeout']);
  one.end();
});

test('all calls of a lost connection count as one failure; each missed deadline counts as one', () => {
  const { one, events } = circuit();
  const lost = Array.from({ length: 50 }, () => one.enter());
  for (const ticket of lost) one.failed(ticket, failure('connection'), never);
  expect(one.error).toBeUndefined();
  const late = Array.from({ length: 4 }, () => one.enter());
  for (const ticket of late) one.failed(ticket, failure('timeout'), never);
  expect(events).toEqual(['opened: timeout']);
  one.end();
});

test('an open circuit probes until a reply, lets one call through, and closes when that call succeeds', async () => {
  const { one, events } = circuit();
  let answers = false;
  let probes = 0;
  const probe = async () => {
    probes += 1;
    if (!answers) throw failure();
  };
  for (let i = 0; i < 5; i += 1) one.failed(one.enter(), failure(), probe);
  await eventually(async () => probes >= 2);
  expect(one.error).toBeDefined();
  answers = true;
  await eventually(async () => one.error === undefined);
  const trial = one.enter();
  expect(one.error).toBeDefined(); // only one call passes
  one.succeeded(trial);
  expect(one.error).toBeUndefined();
  expect(events).toEqual(['opened: timeout', 'closed']);
});

test('a store that answers probes but fails decisions stays out, without another event', async () => {
  const { one, events } = circuit();
  const probe = async () => {};
  for (let i = 0; i < 5; i += 1) one.failed(one.enter(), failure('OOM'), probe);
  for (let trials = 0; trials < 2; trials += 1) {
    await eventually(async () => one.error === undefined);
    one.failed(one.enter(), failure('READONLY'), probe);
    expect(one.error).toMatchObject({ reason: 'READONLY' });
  }
  one.succeeded(0); // of a call sent before the circuit opened
  expect(one.error).toBeDefined();
  expect(events).toEqual(['opened: OOM']);
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

test('the error of an open circuit drops the full stop of an answer of Redis', () => {
  const full = new StoreUnavailableError("OOM command not allowed when used memory > 'maxmemory'.", {
    reason: 'OOM',
  });
  expect(whileOpen(full).message).toBe(
    "OOM command not allowed when used memory > 'maxmemory'; the store is out, and calls are not sent until it answers again",
  );
});
