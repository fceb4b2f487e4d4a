// Tests pass one file with both.
const { SLUICE_BENCH_RULES: both } = process.env;
const { parseRules } = await import(both ?? '@sluice/rules');
const { simulate } = await import(both ?? '@sluice/rules/simulate');

const rule = (name, key, limit) => ({ name, match: { path: '/v1/*' }, key, ...limit });
const user = '#{user.id}';
const perMinute = (n) => ({ tokenBucket: { capacity: n, refill: n, every: '1m' } });

const RULES = {
  one: () => [rule('api', user, { limit: perMinute(60) })],
  three: (n) => [
    rule('api', user, {
      limits: { perMinute: perMinute(n), perDay: { fixedWindow: { limit: 5_000, window: '1d' } } },
    }),
    rule('address', 'IP', { limit: { gcra: { limit: 300, period: '1m' } } }),
  ],
  seven: () =>
    [
      perMinute(60),
      { fixedWindow: { limit: 60, window: '1m' } },
      { slidingWindow: { limit: 60, window: '1m' } },
      { slidingLog: { limit: 60, window: '1m' } },
      { gcra: { limit: 60, period: '1m' } },
      { leakyBucket: { capacity: 60, leak: 60, every: '1m' } },
      { concurrency: { limit: 60 } },
    ].map((limit) => rule(Object.keys(limit)[0], user, { limit })),
};

const [file, name, against] = process.argv.slice(2);
const rulesOf = (n) => parseRules({ rules: RULES[name](n) });
const start = performance.now();
const found = await simulate(rulesOf(60), file, against === 'true' ? { against: rulesOf(40) } : {});
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
console.log(
  JSON.stringify({
    requests: found.log.requests,
    seconds: (performance.now() - start) / 1_000,
    cpu: (userCPUTime + systemCPUTime) / 1e6,
    megabytes: Math.round(maxRSS / 1_024),
  }),
);
