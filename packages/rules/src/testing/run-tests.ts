import { isKeyResolutionError, ManualClock, memoryStore } from '@sluice/core';
import { toMicros } from '@sluice/core/internal';
import type { GivenInput } from '../document/schema-tests.js';
import { Rules } from '../live/rules.js';
import type { RuleSet } from '../rule-set.js';
import type { RuleTest } from './compile-tests.js';
import { requestOf } from './given-request.js';

/** A failed test. */
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

/** Runs the `tests:` of a document: each with its own clock and memory store. */
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
  /** Requests that each shadow rule would deny. */
  readonly shadow: Map<string, number>;
  /** Why shadow rules could not decide. */
  readonly shadowErrors: Map<string, unknown>;
  /** Requests to which no limit applied, by method and path. */
  readonly free: Map<string, number>;
}

/** The failure; undefined if the test passed. */
async function problemOf(set: RuleSet, test: RuleTest): Promise<string | undefined> {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  const rules = new Rules(set, { store });
  const counts: Counts = {
    allowed: 0,
    denied: 0,
    by: new Map(),
    shadow: new Map(),
    shadowErrors: new Map(),
    free: new Map(),
  };
  try {
    for (const given of test.given) await run(rules, clock, given, counts);
    for (const name of Object.keys(test.expect.shadow ?? {}))
      if (counts.shadowErrors.has(name)) throw counts.shadowErrors.get(name);
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
    const { decision, shadows } =
      request === undefined
        ? { decision: rules.limiter(rule!, plan).consumeSync(key!), shadows: [] }
        : await rules.decide(request);
    for (const { rule, decision, error } of shadows) {
      if (error !== undefined) counts.shadowErrors.set(rule.name, error);
      if (decision?.allowed === false) add(counts.shadow, rule.name);
    }
    if (decision === undefined && shadows.length === 0)
      add(counts.free, `${request!.method} ${request!.path}`);
    if (decision?.allowed !== false) counts.allowed += 1;
    else {
      counts.denied += 1;
      // The limits of a single limiter are named without the rule.
      const single =
        rule !== undefined && decision.policy !== `${rules.name}.${rule}` ? `.${decision.policy}` : '';
      const by = rule === undefined ? decision.policy : `${rule}${single}`;
      add(counts.by, by);
    }
  }
}

const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

function compare({ allowed, denied, by, free, shadow }: Counts, { expect }: RuleTest): string | undefined {
  const others = [...by].filter(([name]) => expect.by !== undefined && !isBy(name, expect.by));
  const isWrong =
    (expect.allowed !== undefined && expect.allowed !== allowed) ||
    (expect.denied !== undefined && expect.denied !== denied) ||
    (expect.by !== undefined && (others.length > 0 || denied === 0)) ||
    Object.entries(expect.shadow ?? {}).some(([rule, wanted]) => wanted !== (shadow.get(rule) ?? 0));
  if (!isWrong) return undefined;
  const { shadow: shadowed = {}, ...enforced } = expect;
  const wanted = Object.entries(enforced).map(([name, value]) => `${name} ${value}`);
  for (const [rule, count] of Object.entries(shadowed)) wanted.push(`shadow ${rule} ${count}`);
  const denials = [...by].map(([name, count]) => `${count} by ${name}`).join(', ');
  const found = `allowed ${allowed}, denied ${denied}${denials === '' ? '' : ` (${denials})`}`;
  const wouldDeny = Object.keys(shadowed).map((rule) => `, shadow ${rule} ${shadow.get(rule) ?? 0}`);
  const unlimited = [...free].map(([name, count]) => `${count} of ${name}`).join(', ');
  return `expected ${wanted.join(', ')}; got ${found}${wouldDeny.join('')}${unlimited === '' ? '' : `; no limit applied to ${unlimited}`}`;
}

const isBy = (name: string, expected: string): boolean =>
  name === expected || name.startsWith(`${expected}.`);
