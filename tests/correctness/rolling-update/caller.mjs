// One process of a service, on whichever release of the core it is given: `service.ts` starts it and sends it what to do.
const [library, redisUrl, name, policies] = process.argv.slice(2);
const { RateLimiter, redisStore } = await import(library);

const IN_FLIGHT = 4;
const PAUSE_MS = 2; // other tests run beside this one

const store = redisStore(redisUrl);
const limiters = new Map(
  Object.entries(JSON.parse(policies)).map(([policyName, policy]) => [
    policyName,
    // Generous: nothing here is about a store that is late.
    new RateLimiter({ name: `${name}-${policyName}`, policy, store, deadline: '30s' }),
  ]),
);
const report = { asked: 0, failures: [], longestRetry: 0, admitted: {} };
let traffic;

/** Asks for every key of every limiter, in turn, until it gets the message to stop. */
async function flood(keys, { signal }) {
  const asks = [...limiters.keys()].flatMap((policy) => keys.map((key) => ({ policy, key })));
  let next = 0;
  const caller = async () => {
    while (!signal.aborted) {
      const { policy, key } = asks[next++ % asks.length];
      try {
        count(policy, key, await limiters.get(policy).consume(key));
      } catch (error) {
        report.failures.push(String(error));
      }
      report.asked += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
}

function count(policy, key, { allowed, degraded, retryAfter }) {
  if (degraded) throw new Error('the store was not asked');
  const admitted = `${policy} ${key}`;
  if (allowed) report.admitted[admitted] = (report.admitted[admitted] ?? 0) + 1;
  else report.longestRetry = Math.max(report.longestRetry, retryAfter);
}

const tasks = {
  call: ({ policy, method, args }) => limiters.get(policy)[method](...args),
  flood: ({ keys }) => {
    const stop = new AbortController();
    traffic = { stop, done: flood(keys, stop) };
  },
  report: () => report,
  /** As a service does that is asked to end: takes no more calls, answers those that it has, closes what it opened. */
  end: async () => {
    traffic?.stop.abort();
    await traffic?.done;
    await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    await store.close();
    return report;
  },
};

process.on('message', async ({ id, task, ...rest }) => {
  try {
    process.send({ id, result: await tasks[task](rest) });
  } catch (error) {
    process.send({ id, error: String(error) });
  }
});
// The test is over, or gone.
process.once('disconnect', () => process.exit());
process.send({ id: 0 });
