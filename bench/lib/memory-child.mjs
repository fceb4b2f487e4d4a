// One contender in memory, in its own process, because the keys of another contender would slow down its garbage collection.
// Its parent sends { task: 'fill' } or { task: 'slice', kind, ms }.
import { performance } from 'node:perf_hooks';
import { contenders } from './contenders/index.mjs';
import { ENOUGH, NEVER_REACHED } from './limits.mjs';
import { flat, growth } from './size.mjs';

const [id, count, prefix] = process.argv.slice(2);
const size = Number(count);
const { name, sync, storedKey = (key) => key, create } = contenders.find((contender) => contender.id === id);
const bench = { prefix, keys: size };
const many = Array.from({ length: size }, (_, i) => `user:${1_000_000 + i}`);
/** The kinds of slices: limiter, keys, and the expected answer. */
const kinds = {
  one: { decide: await create(NEVER_REACHED, bench), keys: ['user:one'], expect: true },
  denied: { decide: await create(1, bench), keys: ['user:denied'], expect: false },
  many: { decide: await create(ENOUGH, bench), keys: many, expect: true },
};
check(await kinds.denied.decide('user:denied'), true);
/** The step from one key to the next: a prime, so that all keys are used, and never two neighbours in memory in turn. */
const STRIDE = 611_953;
const CHUNK = 64;
const work = { fill, slice };

process.on('message', async ({ task, ...options }) => process.send(await work[task](options)));
process.send('ready');

/** Bytes per key, and the part of the stored string. The caller's own strings are not counted. */
async function fill() {
  const own = await growth(() => many.map((key) => flat(storedKey(key, prefix))));
  own.kept.length = 0;
  const { grown } = await growth(async () => {
    for (const key of many) check(await kinds.many.decide(flat(key)), true);
  });
  return { total: grown / size, own: own.grown / size - 8 };
}

/** ns of CPU per decision, one after the other. */
async function slice({ kind, ms }) {
  const { decide, keys, expect } = kinds[kind];
  const stride = STRIDE % keys.length;
  let at = 0;
  const next = () => {
    at += stride;
    if (at >= keys.length) at -= keys.length;
    return keys[at];
  };
  const start = performance.now();
  const before = process.cpuUsage();
  let decisions = 0;
  while (performance.now() - start < ms) {
    if (sync) for (let i = 0; i < CHUNK; i++) check(decide(next()), expect);
    else for (let i = 0; i < CHUNK; i++) check(await decide(next()), expect);
    decisions += CHUNK;
  }
  const { user, system } = process.cpuUsage(before);
  return (1000 * (user + system)) / decisions;
}

function check(allowed, expected) {
  if (allowed !== expected) throw new Error(`${name} answered ${allowed}, not ${expected}`);
}
