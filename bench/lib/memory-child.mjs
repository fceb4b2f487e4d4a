// One contender in memory, in a process of its own: so many keys in another's heap would slow down this one's collector.
// Is told by its parent what to do: { ask: 'fill' }, { ask: 'slice', many, ms }.
import { performance } from 'node:perf_hooks';
import { contenders } from './contenders/index.mjs';
import { ENOUGH, NEVER_REACHED } from './limits.mjs';
import { flat, growth } from './size.mjs';

const [id, count, prefix] = process.argv.slice(2);
const size = Number(count);
const { name, sync, storedKey = (key) => key, create } = contenders.find((contender) => contender.id === id);
const bench = { prefix, keys: size };
const limiters = { one: await create(NEVER_REACHED, bench), many: await create(ENOUGH, bench) };
const many = Array.from({ length: size }, (_, i) => `user:${1_000_000 + i}`);
const one = ['user:one'];
/** From one key to the next: a prime, so that all are met, and no two neighbours in memory in turn. */
const STRIDE = 611_953;
const CHUNK = 64;
const work = { fill, slice };

process.on('message', async ({ ask, ...options }) => process.send(await work[ask](options)));
process.send('ready');

/** Bytes a key takes, and how many of them are its string, as the store has it. The caller's own strings are not counted. */
async function fill() {
  const own = await growth(() => many.map((key) => flat(storedKey(key, prefix))));
  own.kept.length = 0;
  const { grown } = await growth(async () => {
    for (const key of many) check(await limiters.many(flat(key)));
  });
  return { total: grown / size, own: own.grown / size - 8 };
}

/** Decisions per second, one after the other. */
async function slice({ many: all, ms }) {
  const keys = all ? many : one;
  const decide = all ? limiters.many : limiters.one;
  const stride = STRIDE % keys.length;
  let at = 0;
  const next = () => {
    at += stride;
    if (at >= keys.length) at -= keys.length;
    return keys[at];
  };
  const start = performance.now();
  let decisions = 0;
  let elapsed = 0;
  while (elapsed < ms) {
    if (sync) for (let i = 0; i < CHUNK; i++) check(decide(next()));
    else for (let i = 0; i < CHUNK; i++) check(await decide(next()));
    decisions += CHUNK;
    elapsed = performance.now() - start;
  }
  return (decisions / elapsed) * 1000;
}

function check(allowed) {
  if (allowed !== true) throw new Error(`${name} answered ${allowed}, not true`);
}
