import { deepStrictEqual } from 'node:assert';
import { type Random, randomFrom, seedOf } from '../../support/random.js';
import { START, Timeline } from '../../support/timeline.js';
import { type Case, cases } from './oracles.js';

// Run by bookings.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node bookings.cjs <walks> [policy]
// Without a policy, several at once. Throws the first violation; prints nothing without one.

interface Passed {
  readonly at: number;
  readonly cost: number;
}

interface Walk {
  /** The moments at which calls pass, in the order of the calls. */
  readonly going: readonly Passed[];
  /** The moments of calls that were cancelled before. */
  readonly cancelled: readonly number[];
}

/** @param strict whether all costs are equal and no call is cancelled */
function walk(policies: readonly Case[], random: Random, strict: boolean): Walk {
  const timeline = new Timeline(...policies.map(({ policy }) => policy));
  const pace = Math.ceil(Math.max(...policies.map((one) => one.pace)));
  const most = Math.min(...policies.map((one) => one.most)) - 1;
  const going: Passed[] = [];
  const cancelled: number[] = [];
  let now = 0;
  for (let step = 0; step < 40; step += 1) {
    now += random(8) === 0 ? random(pace * 40) : random(pace + 1);
    const cost = strict ? 1 : 1 + random(most);
    const dice = random(strict ? 8 : 10);
    if (dice < 5) {
      const [margin, gap] = [random(2) * random(pace * 2), random(pace * 2)];
      const booking = { margin, gap, maxWaiting: 1 + random(20) };
      const { allowed, wait } = timeline.ask(now, {
        operation: 'acquire',
        cost,
        wait: random(pace * 50),
        booking,
      });
      if (allowed) going.push({ at: START + now + wait, cost });
    } else if (dice < 8) {
      const { allowed, wait } = timeline.ask(now, { cost });
      if (allowed) going.push({ at: START + now, cost });
      // Without other calls, a denied call passes when its wait is over, and not before.
      else if (wait > 0)
        deepStrictEqual(
          [wouldPass(timeline, now + wait - 1, cost), wouldPass(timeline, now + wait, cost)],
          [false, true],
        );
    } else {
      const ahead = going.filter(({ at }) => at > START + now);
      const back = ahead[random(ahead.length || 1)];
      if (back === undefined) continue;
      timeline.ask(now, { operation: 'refund', ...back });
      going.splice(going.indexOf(back), 1);
      cancelled.push(back.at);
    }
  }
  return { going, cancelled };
}

const wouldPass = (timeline: Timeline, at: number, cost: number) =>
  timeline.ask(at, { operation: 'peek', cost }).allowed;

/** Checks the passed calls against the rules, in the order of their moments. */
function judge(rules: readonly Case[], { going, cancelled }: Walk): void {
  const passed = [...going].sort((a, b) => a.at - b.at);
  for (const rule of rules) {
    const wrong =
      cancelled.length > 0 && rule.within !== undefined
        ? tooMany(passed, (first, last) => rule.within!(first, last, cancelled))
        : refused(passed, rule);
    if (wrong !== undefined) {
      throw new Error(
        `${JSON.stringify(rule.policy)}: a call for ${wrong.cost} too many at ${wrong.at - START}`,
      );
    }
  }
}

const refused = (passed: readonly Passed[], rule: Case): Passed | undefined =>
  passed.find(({ at, cost }) => {
    if (rule.left(at) < cost) return true;
    rule.take(at, cost);
    return false;
  });

const tooMany = (
  passed: readonly Passed[],
  within: (first: number, last: number) => number,
): Passed | undefined =>
  passed.find((last, i) => {
    let sum = 0;
    for (let from = i; from >= 0; from -= 1) {
      sum += passed[from]!.cost;
      if (sum > within(passed[from]!.at, last.at)) return true;
    }
    return false;
  });

function ofOnePolicy(name: string, walks: number): void {
  for (let i = 0; i < walks; i += 1) {
    const strict = i % 2 === 0;
    const one = cases[name]!(randomFrom(seedOf(i)));
    const walked = walk([one], randomFrom(seedOf(i) + 1_000_000), strict);
    judge([one], walked);
    const moments = walked.going.map(({ at }) => at);
    if (strict) {
      deepStrictEqual(
        moments,
        [...moments].sort((a, b) => a - b),
      );
    }
  }
}

function ofSeveralPolicies(walks: number): void {
  const names = Object.keys(cases);
  for (let i = 0; i < walks; i += 1) {
    const pick = randomFrom(seedOf(i));
    const some = Array.from({ length: 2 + pick(3) }, () => cases[names[pick(names.length)]!]!(pick));
    judge(some, walk(some, randomFrom(seedOf(i) + 1_000_000), false));
  }
}

const [walks = '', name] = process.argv.slice(2);
if (name === undefined) ofSeveralPolicies(Number(walks));
else ofOnePolicy(name, Number(walks));
