import { type Clock, ManualClock } from '../../clock.js';
import { RenewalTimer } from './leases.js';

function setUp(through = (sleep: Promise<void>) => sleep) {
  const manual = new ManualClock(0);
  const sleeps: (AbortSignal | undefined)[] = [];
  const clock: Clock = {
    now: () => manual.now(),
    sleep: (micros, signal) => {
      sleeps.push(signal);
      return through(manual.sleep(micros, signal));
    },
  };
  const ran: string[] = [];
  const timer = new RenewalTimer<string>(clock, (value) => ran.push(`${value} ${manual.now() / 1000}`));
  return { manual, timer, ran, sleeps };
}

test('entries run at their moments, also one added during a longer sleep', async () => {
  const { manual, timer, ran } = setUp();
  timer.add(8_000, 'late');
  timer.add(3_000, 'early');
  timer.add(3_000, 'early too');
  await manual.advance(2);
  expect(ran).toEqual([]);
  timer.add(5_000, 'between');
  await manual.advance(10);
  expect(ran).toEqual(['early 3', 'early too 3', 'between 5', 'late 8']);
});

test('a removed entry does not run, and a thousand added and removed entries use one sleep', async () => {
  const { manual, timer, ran, sleeps } = setUp();
  for (let i = 0; i < 1_000; i += 1) timer.remove(timer.add(4_000 + i, 'released'));
  timer.add(9_000, 'held');
  await manual.advance(20);
  expect(ran).toEqual(['held 9']);
  expect(sleeps).toHaveLength(2);
  timer.add(manual.now() + 1_000, 'again');
  await manual.advance(1);
  expect(ran).toEqual(['held 9', 'again 21']);
});

test('close ends the last sleep', async () => {
  const { manual, timer, ran, sleeps } = setUp();
  timer.remove(timer.add(4_000, 'released'));
  timer.close();
  await manual.advance(10);
  expect(ran).toEqual([]);
  expect(sleeps.map((signal) => signal?.aborted)).toEqual([true]);
});

test('a clock can reject a woken sleep with its own error', async () => {
  const { manual, timer, ran } = setUp((sleep) => sleep.catch(() => Promise.reject(new Error('AbortError'))));
  timer.add(8_000, 'late');
  timer.add(3_000, 'early');
  await manual.advance(10);
  expect(ran).toEqual(['early 3', 'late 8']);
});

test('a clock whose sleep rejects causes no unhandled rejection', async () => {
  let broken = true;
  const { manual, timer, ran } = setUp((sleep) => (broken ? Promise.reject(new Error('no timer')) : sleep));
  timer.add(3_000, 'first');
  await manual.advance(10);
  expect(ran).toEqual([]);
  broken = false;
  timer.add(20_000, 'second');
  await manual.advance(20);
  expect(ran).toEqual(['first 10', 'second 20']);
});
