import { deepStrictEqual } from 'node:assert';
import { type Random, randomFrom, seedOf } from '../../support/random.js';
import { START, Timeline } from '../../support/timeline.js';
import { type Case, cases } from './oracles.js';

// Run by bookings.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node bookings.cjs <walks> [policy]
// Without a policy, several at once. Throws what was wrong, and prints nothing otherwise.

interface Going {
  readonly at: number;
  readonly cost: number;
}

interface Walk {
  /** Who goes when, in the order of asking. */
  readonly going: readonly Going[];
  readonly cancelled: boolean;
}

/** @param strict all costs are equal, and nobody cancels */
function walk(policies: readonly Case[], random: Random, strict: boolean): Walk {
  const timeline = new Timeline(...policies.map(({ policy }) => policy));
  const pace = Math.ceil(Math.max(...policies.map((one) => one.pace)));
  const most = Math.min(...policies.map((one) => one.most)) - 1;
  const going: Going[] = [];
  let cancelled = false;
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
      // If nobody else comes, a denied call can go when its wait is over, and not before.
      else if (wait > 0)
        deepStrictEqual(
          [told(timeline, now + wait - 1, cost), told(timeline, now + wait, cost)],
          [false, true],
        );
    } else {
      const ahead = going.filter(({ at }) => at > START + now);
      const back = ahead[random(ahead.length || 1)];
      if (back === undefined) continue;
      timeline.ask(now, { operation: 'refund', ...back });
      going.splice(going.indexOf(back), 1);
      cancelled = true;
    }
  }
  return { going, cancelled };
}

const told = (timeline: Timeline, at: number, cost: number) =>
  timeline.ask(at, { operation: 'peek', cost }).allowed;

/** What the rules say of the calls that passed, in the order of their moments. */
function judge(rules: readonly Case[], { going, cancelled }: Walk): void {
  const gone = [...going].sort((a, b) => a.at - b.at);
  for (const rule of rules) {
    const wrong = cancelled && rule.within !== undefined ? tooMany(gone, rule.within) : refused(gone, rule);
    if (wrong !== undefined) {
      throw new Error(
        `${JSON.stringify(rule.policy)}: a call for ${wrong.cost} too many at ${wrong.at - START}`,
      );
    }
  }
}

const refused = (gone: readonly Going[], rule: Case): Going | undefined =>
  gone.find(({ at, cost }) => {
    if (rule.left(at) < cost) return true;
    rule.take(at, cost);
    return false;
  });

const tooMany = (gone: readonly Going[], within: (span: number) => number): Going | undefined =>
  gone.find((last, i) => {
    let sum = 0;
    for (let from = i; from >= 0; from -= 1) {
      sum += gone[from]!.cost;
      if (sum > within(last.at - gone[from]!.at)) return true;
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
