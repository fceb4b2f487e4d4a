import { isKeyResolutionError, ManualClock, memoryStore } from '@sluice/core';
import { toMicros } from '@sluice/core/http';
import type { GivenInput } from '../document/schema-tests.js';
import { Rules } from '../live/rules.js';
import type { RuleSet } from '../rule-set.js';
import type { RuleTest } from './compile-tests.js';
import { requestOf } from './given-request.js';

/** A test that did not get what it expects. */
export interface FailedTest {
  readonly name: string;
  readonly message: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

export interface TestReport {
  readonly passed: number;
  readonly failed: readonly FailedTest[];
}

/** Runs the `tests:` of a document: each on a clock and in a memory of its own. */
export async function runTests(set: RuleSet): Promise<TestReport> {
  const failed: FailedTest[] = [];
  for (const test of set.tests) {
    const message = await problemOf(set, test);
    const { name, line, column } = test;
    if (message !== undefined) failed.push({ name, message, line, column });
  }
  return { passed: set.tests.length - failed.length, failed };
}

interface Counts {
  allowed: number;
  denied: number;
  /** Denials by the limit that denied. */
  readonly by: Map<string, number>;
}

/** What is wrong; undefined if nothing is. */
async function problemOf(set: RuleSet, test: RuleTest): Promise<string | undefined> {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const rules = new Rules(set, { store });
  const counts: Counts = { allowed: 0, denied: 0, by: new Map() };
  try {
    for (const given of test.given) await run(rules, clock, given, counts);
    return compare(counts, test);
  } catch (error) {
    if (!isKeyResolutionError(error)) throw error;
    return `a request has no key: ${(error.cause as Error | undefined)?.message ?? error.message}`;
  } finally {
    await rules.close();
    await store.close();
  }
}

async function run(rules: Rules, clock: ManualClock, given: GivenInput, counts: Counts): Promise<void> {
  const { times = 1, every, after, at, rule, key, plan } = given;
  const start = at === undefined ? clock.now() : Math.max(clock.now(), Date.parse(at) * 1000);
  clock.set(start + (after === undefined ? 0 : toMicros('after', after, 0)));
  const step = every === undefined ? 0 : toMicros('every', every, 0);
  const request = rule === undefined ? requestOf(given) : undefined;
  for (let i = 0; i < times; i++) {
    if (i > 0) clock.set(clock.now() + step);
    const decision =
      request === undefined
        ? rules.limiter(rule!, plan).consumeSync(key!)
        : (await rules.decide(request)).decision;
    if (decision?.allowed !== false) counts.allowed += 1;
    else {
      counts.denied += 1;
      // A single limiter names its limits without the rule.
      const single =
        rule !== undefined && decision.policy !== `${rules.name}.${rule}` ? `.${decision.policy}` : '';
      const by = rule === undefined ? decision.policy : `${rule}${single}`;
      counts.by.set(by, (counts.by.get(by) ?? 0) + 1);
    }
  }
}

function compare({ allowed, denied, by }: Counts, { expect }: RuleTest): string | undefined {
  const others = [...by].filter(([name]) => expect.by !== undefined && !isBy(name, expect.by));
  const isWrong =
    (expect.allowed !== undefined && expect.allowed !== allowed) ||
    (expect.denied !== undefined && expect.denied !== denied) ||
    (expect.by !== undefined && (others.length > 0 || denied === 0));
  if (!isWrong) return undefined;
  const wanted = Object.entries(expect).map(([name, value]) => `${name} ${value}`);
  const denials = [...by].map(([name, count]) => `${count} by ${name}`).join(', ');
  const found = `allowed ${allowed}, denied ${denied}${denials === '' ? '' : ` (${denials})`}`;
  return `expected ${wanted.join(', ')}; got ${found}`;
}

const isBy = (name: string, expected: string): boolean =>
  name === expected || name.startsWith(`${expected}.`);
