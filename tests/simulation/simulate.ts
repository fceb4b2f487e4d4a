import { hasBudget, Spenders } from './budget.js';
import { Calls } from './calls.js';
import { plan } from './faults.js';
import { EPOCH } from './globals.js';
import type { Instances } from './instance.js';
import type { Evidence, Invariant, InvariantOf } from './invariants/invariant.js';
import { limiterOf } from './limits.js';
import type { Kept } from './server.js';
import type { Story } from './story.js';
import { Callers, STORM, settingsOf } from './workload.js';
import { type TableFault, World } from './world.js';

/** A promise that a run broke. */
export interface Broken {
  readonly seed: number;
  readonly promise: string;
  readonly how: string;
  readonly story: string;
}

const MS = 1000;
/** After the storm: how long callers go on, until every permit is back, and until the last timer is over. µs. */
const [QUIET, WHOLE, CLOSED] = [4_000 * MS, 9_000 * MS, 6_000 * MS];
/** µs between two calls in calm. */
const PACE = 620 * MS;

/** Runs one seed. @returns the first promise that it breaks */
export async function simulate(
  seed: number,
  instances: Instances,
  promises: Readonly<Record<string, InvariantOf>>,
  tableFault?: TableFault,
): Promise<Broken | undefined> {
  const world = new World(seed, instances, tableFault);
  const { scheduler } = world;
  const settings = settingsOf(world);
  const count = 2 + world.dice(3);
  for (let i = 1; i <= count; i += 1) world.start(`p${i}`, settings);
  let broken: Broken | undefined;
  const calls = new Calls(world);
  const invariants = Object.entries(promises).map(([promise, promised]): Invariant => {
    const evidence: Evidence = {
      ...{ world, calls, settings },
      broken: (how, about) => {
        broken ??= { seed, promise, how, story: world.story.text(about) };
      },
    };
    return promised(evidence);
  });
  listen(world, calls, invariants);
  const callers = world.members.map((member) => new Callers(world, calls, member, settings));
  for (const one of callers) one.plan(25 + world.dice(30));
  if (hasBudget(seed)) for (const member of world.members) new Spenders(world, calls, member).plan(20, STORM);
  plan(world, STORM - 500 * MS);
  await scheduler.runUntil(STORM);
  world.story.note('world', 'calm');
  world.members.forEach(({ process }, i) => {
    for (let at = STORM; at < STORM + QUIET; at += PACE)
      process.receive(at, () => callers[i]!.consume(settings[0]!, 'a', 1));
    for (const before of [0.7 * QUIET, 0.05 * QUIET])
      process.receive(STORM + QUIET - before, () => callers[i]!.releaseAll());
  });
  await scheduler.runUntil(STORM + QUIET);
  for (const one of invariants) one.calm?.();
  await scheduler.runUntil(STORM + QUIET + WHOLE);
  await end(world, callers);
  for (const one of invariants) one.closed?.();
  world.end();
  return broken;
}

/** Looks at every key once more, and closes everything. */
async function end(world: World, callers: readonly Callers[]): Promise<void> {
  const { scheduler } = world;
  const last = callers[world.members.indexOf(world.alive[0]!)]!;
  last.peekAll();
  await scheduler.runUntil(scheduler.now + 1_000 * MS);
  for (const { limiters, budget, store } of world.alive) {
    const close = async () => {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
      await budget?.close();
      await store.close();
    };
    void close();
  }
  await scheduler.runUntil(scheduler.now + CLOSED);
}

function listen({ members, server, story }: World, calls: Calls, invariants: readonly Invariant[]): void {
  const withHook = <K extends keyof Invariant>(name: K) =>
    invariants.filter((one) => one[name] !== undefined);
  const [keeping, kept, ended] = [withHook('keeping'), withHook('kept'), withHook('ended')];
  const [begun, settled] = [withHook('begun'), withHook('settled')];
  server.keeping = (turn) => {
    for (const one of keeping) one.keeping!(turn);
  };
  server.heard = (decision) => {
    noteKept(story, decision);
    for (const one of kept) one.kept!(decision);
  };
  calls.ended = (call) => {
    for (const one of ended) one.ended!(call);
  };
  for (const member of members) {
    member.process.instance.begun = (call) => {
      for (const one of begun) one.begun!(call);
    };
    member.process.instance.settled = (call, outcome, again) => {
      for (const one of settled) one.settled!(member, call, outcome, again);
    };
  }
}

function noteKept(story: Story, { call, answer, process }: Kept): void {
  call.parts.forEach(({ limit, key, cost, at }, i) => {
    const { remaining } = answer.parts[i]!;
    const what = () => {
      const given = at > 0 ? ` of ${at - EPOCH * 1000}` : '';
      const allowed = answer.allowed
        ? answer.wait > 0
          ? `in ${answer.wait} µs`
          : 'yes'
        : `no, for ${answer.wait} µs`;
      const now = answer.now - EPOCH * 1000;
      return `${process.name}: ${call.operation} ${limit.name} ${key} × ${cost}${given} at ${now}: ${allowed}, ${remaining} left`;
    };
    story.note('  server', what, `${limiterOf(limit.name)} ${key}`);
  });
}
