import { parseRules } from '../index.js';

const LIMIT = 'limit: { gcra: { limit: 1, period: 1m } }';
const inRule = (fields: string) => `rules:\n  - name: a\n    ${fields}\n    ${LIMIT}\n`;

test.each([
  ['nothing', '', '1:1: the document must be an object, not null'],
  ['a string', 'hello', '1:1: the document must be an object, not "hello"'],
  ['a list', '- a', '1:1: the document must be an object, not an array'],
  ['two documents', `rules: []\n---\nrules: []`, '2:1: a file has one document'],
  ['a key twice', `rules: []\nrules: []`, '2:1: Map keys must be unique'],
  ['a tag', `rules: !!js/function []`, '1:8: Unresolved tag'],
  ['a merge key', inRule('<<: { mode: shadow }'), '3:5: a rule has no field "<<"'],
  ['an unknown alias', 'rules: *rules', '1:8: no anchor &rules comes before the alias *rules'],
  ['an alias of itself', 'rules: &a [*a]', 'nested more than 64 levels deep'],
  ['__proto__', inRule('__proto__: { limits: {} }'), "3:5: a field cannot be named '__proto__'"],
  ['constructor', inRule('constructor: {}'), '3:5: a rule has no field "constructor"'],
  ['a wrong indentation', 'rules:\n  - name: a\n   limit: 5', '3:'],
  ['a bomb of aliases', bomb(), 'the aliases stand for too many values'],
  ['deep lists', '['.repeat(1000), '1:65: the document is nested more than 64 levels deep'],
  [
    'deep maps',
    Array.from({ length: 100 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    'nested more than 64 levels',
  ],
  ['a rule that is not an object', 'rules: [5, null, text]', '1:9: rules[0] must be an object, not 5'],
  [
    'a rule that is not an object, with tests',
    'rules: [null]\ntests: [{ given: { path: / }, expect: { denied: 1 } }]',
    '1:9: rules[0] must be an object, not null',
  ],
  [
    'the same rule twice',
    `rules: [{ name: a, ${LIMIT} }, { name: a, limit: { slidingLog: { limit: 1, window: 1m } } }]`,
    "1:73: rule 'a' exists already",
  ],
  ['a name for another key', `rules: [{ name: 'a|b', ${LIMIT} }]`, '1:17: name must be a name'],
  [
    'a match that is only a path',
    inRule('match: /v1/*'),
    'match must be an object such as { path: /v1/* }, not "/v1/*"',
  ],
  [
    'a limit that is a number',
    'rules: [{ name: a, limit: 5 }]',
    'such as { fixedWindow: { limit: 100, window: 1m } }, not 5',
  ],
  ['a regular expression', inRule('match: { path: "^/(a+)+$" }'), `must begin with '/'`],
  ['a pattern with **', inRule('match: { path: /a/**/b }'), 'write /* at the end'],
  [
    'a header with a line break',
    inRule('reply: { headers: { x-a: "a\\nset-cookie: b" } }'),
    'has a character that headers cannot have',
  ],
  ['a Content-Length header', inRule('reply: { headers: { Content-Length: 5 } }'), 'is set by the server'],
  [
    'an unknown method',
    inRule('match: { method: GTE }'),
    '3:22: method "GTE" is not known; did you mean \'GET\'?',
  ],
  [
    'an invalid address range',
    inRule('match: { ip: 10.0.0.0/33 }'),
    '3:18: ip "10.0.0.0/33" is not an address or a range',
  ],
  [
    'a name as an address',
    inRule('match: { ip: [10.0.0.0/8, office] }'),
    '3:31: ip "office" is not an address',
  ],
  [
    'a number as an address',
    inRule('match: { ip: 10 }'),
    'ip must be an address or a range such as 10.0.0.0/8',
  ],
  ['users that are a boolean', inRule('match: { user: true }'), "'*' for all who are signed in"],
  ['a query that is a string', inRule('match: { query: csv }'), 'must be an object of query values'],
  [
    'a match by an unknown plan',
    `plans: { free: {} }\ndefaultPlan: free\nrules: [{ name: a, match: { plan: [free, pr], not: { plan: fre } }, plan: '#{user.plan}', ${LIMIT} }]`,
    "3:42: plan 'pr' is not in the document\n3:60: plan 'fre' is not in the document; did you mean 'free'?",
  ],
  [
    'a match by plan in a rule without a plan',
    `plans: { free: {} }\ndefaultPlan: free\nrules: [{ name: a, match: { plan: free }, ${LIMIT} }]`,
    "rule 'a' matches by plan: add plan: '#{user.plan}', for example",
  ],
  [
    'a match by plan in a rule with a fixed plan',
    `plans: { free: {} }\ndefaultPlan: free\nrules: [{ name: a, match: { plan: free }, plan: free, ${LIMIT} }]`,
    "3:49: rule 'a' matches by plan: plan must find the one of a request",
  ],
  [
    'a match by plan without plans',
    inRule("match: { plan: free }\n    plan: '#{user.plan}'"),
    'has no plans',
  ],
  [
    'a list of one key',
    inRule('match: { path: /* }\n    key: [USER]'),
    '4:10: key: a list of keys has 2 to 5',
  ],
  [
    'a key of a list in small letters',
    inRule('match: { path: /* }\n    key: [user, IP]'),
    '4:11: key: "user" is not a key; write \'USER\'',
  ],
  [
    'a key after the address',
    inRule('match: { path: /* }\n    key: [IP, USER]'),
    "4:11: key: 'IP' must be the last key",
  ],
  [
    'a key list for code with the last key in front',
    inRule("key: ['#{phone}', METHOD, IP]"),
    "3:23: key: 'METHOD' must be the last key",
  ],
  [
    'a list with an unknown name',
    inRule("match: { path: /* }\n    key: ['#{cookie.a}', IP]"),
    "did you mean 'cookies'?",
  ],
  ['a list of numbers', inRule('key: [1, 2]'), 'such as [USER, IP]'],
  ['an unknown failure policy', inRule('failurePolicy: alow'), '{ local: { share: 0.25 } }'],
  [
    'a share of a failure policy above 1',
    inRule('failurePolicy: { local: { share: 4 } }'),
    'share must be a share above 0',
  ],
  ['an invalid timeout', inRule('timeout: soon'), 'timeout must be a duration such as'],
  [
    'a jitter in percent',
    inRule('match: { path: /* }\n    reply: { retryAfterJitter: 20 }'),
    'must be a share from 0 to 1',
  ],
  [
    'a timeout of a shadow rule',
    inRule('mode: shadow\n    timeout: 2s'),
    "4:5: 'timeout' has no effect in the shadow rule 'a'",
  ],
  [
    'a failure policy of an unlimited rule',
    'rules: [{ name: a, match: { path: /* }, unlimited: true, failurePolicy: deny }]',
    "'failurePolicy' has no effect in the unlimited rule 'a'",
  ],
  [
    'skipFailedRequests of a rule for code',
    inRule('skipFailedRequests: true'),
    "'skipFailedRequests' has no effect in rule 'a', which has no match",
  ],
  ['an empty match', inRule('match: {}'), 'path: /* matches every request'],
  ['a host with a port', inRule('match: { host: "a.example:80" }'), 'without a port'],
  [
    'replaces in a circle',
    `rules: [{ name: a, match: { path: /* }, replaces: [b], ${LIMIT} }, { name: b, match: { path: /* }, replaces: [a], ${LIMIT} }]`,
    'a → b → a: these rules replace each other in a circle',
  ],
  ['replaces itself', inRule('match: { path: /* }\n    replaces: [a]'), "rule 'a' names itself"],
  [
    'compare in an enforced rule',
    `rules: [{ name: b, ${LIMIT} }, { name: a, compare: b, ${LIMIT} }]`,
    'compare is for a rule with mode: shadow',
  ],
  [
    'compare with a shadow rule',
    `rules: [{ name: b, mode: shadow, ${LIMIT} }, { name: a, mode: shadow, compare: b, ${LIMIT} }]`,
    'compare with an enforced rule',
  ],
  ['limit and limits', inRule('limits: { b: { gcra: { limit: 1, period: 1m } } }'), 'has limit and limits'],
  [
    'a limit of an unlimited rule',
    inRule('unlimited: true\n    match: { path: /* }'),
    "'limit' has no effect",
  ],
  ['a plan without plans', inRule('plan: free'), 'plan has no effect'],
  [
    '$plan without plans',
    'rules: [{ name: a, limit: { gcra: { limit: $plan.a, period: 1m } } }]',
    'the document has no plans',
  ],
  [
    'no default plan',
    `plans: { free: { a: 1 } }\nrules: [{ name: a, plan: '#{user.plan}', limit: { gcra: { limit: $plan.a, period: 1m } } }]`,
    'needs a defaultPlan',
  ],
  [
    'an unknown plan',
    `plans: { free: { a: 1 } }\nrules: [{ name: a, plan: fre, limit: { gcra: { limit: $plan.a, period: 1m } } }]`,
    "did you mean 'free'",
  ],
  [
    'a wrong number of a plan',
    `plans: { free: { a: -1 } }\ndefaultPlan: free\nrules: [{ name: a, limit: { gcra: { limit: $plan.a, period: 1m } } }]`,
    "3:44: gcra: limit must be a whole number from 0 to 9007199254740991, not -1 (plan 'free')",
  ],
  [
    'a plan with too few numbers',
    `plans: { free: { a: 1 }, pro: {} }\ndefaultPlan: free\nrules: [{ name: a, limit: { gcra: { limit: $plan.a, period: 1m } } }]`,
    "plan 'pro' has no number 'a'",
  ],
  [
    'a cost that a plan lacks',
    `plans: { free: { a: 1 } }\ndefaultPlan: free\nrules: [{ name: a, ${LIMIT}, cost: $plan.b }]`,
    "plan 'free' has no number 'b'; did you mean 'a'?",
  ],
  [
    'a plan whose cost is a duration',
    `plans: { free: { a: 1m } }\ndefaultPlan: free\nrules: [{ name: a, ${LIMIT}, cost: $plan.a }]`,
    'cost must be a whole number from 0 to 9007199254740991, not "1m" (plan \'free\')',
  ],
  [
    'a plan whose block is 0',
    `plans: { free: { a: 1m, b: 0 } }\ndefaultPlan: free\nrules: [{ name: a, ${LIMIT}, escalate: { after: 1, within: 1h, block: [$plan.a, $plan.b] } }]`,
    'escalate.block[1] must be a duration',
  ],
  ['a broken template', inRule(`key: '#{user.id'`), 'the expression is not closed'],
  [
    'a key in small letters',
    inRule('match: { path: /* }\n    key: ip'),
    "not a template; did you mean 'IP'?",
  ],
  ['a limit type in small letters', inRule('key: Method'), "not a template; did you mean 'METHOD'?"],
  ['a key without a template', inRule('match: { path: /* }\n    key: user.id'), "Write '#{user.id}'"],
  [
    'an unknown name in a cost',
    inRule(`match: { path: /* }\n    cost: '#{header.x-cost}'`),
    "did you mean 'headers'?",
  ],
  ['a negative cost', inRule('cost: -1'), 'cost must be a whole number from 0'],
  [
    'a block of no length',
    inRule('escalate: { after: 3, within: 1h, block: [1m, 0] }'),
    '3:51: escalate.block[1] must be a duration',
  ],
  [
    'forgiving too early',
    inRule('escalate: { after: 3, within: 1h, block: 1m, forgive: 1m }'),
    'forgive must be at least within',
  ],
  [
    'escalation in a shadow rule',
    inRule('mode: shadow\n    escalate: { after: 3, within: 1h, block: 1m }'),
    'escalate has no effect',
  ],
  [
    'a threshold above the limit',
    'rules: [{ name: a, limit: { fixedWindow: { limit: 5, window: 1d }, notify: [101%] } }]',
    '1:76: notify: a threshold is a part of the limit',
  ],
  [
    'thresholds without windows',
    'rules: [{ name: a, limit: { gcra: { limit: 5, period: 1d }, notify: [80%] } }]',
    'notify is for fixedWindow',
  ],
  [
    'thresholds of a shadow rule',
    'rules: [{ name: a, mode: shadow, limit: { fixedWindow: { limit: 5, window: 1d }, notify: [80%] } }]',
    'notify has no effect',
  ],
  ['a subnet of 0', inRule('ipv6Subnet: 0'), 'ipv6Subnet must be a whole number from 32 to 128'],
  [
    'a rollout of 200 %',
    `${inRule('cost: 1')}rollout: { percent: 200 }`,
    'percent must be a number from 0 to 100',
  ],
  ['a rollout by nothing', `${inRule('cost: 1')}rollout: { percent: 20, by: all }`, 'has no expression'],
])('%s is refused with a line and column', (_, text, message) => {
  expect(() => parseRules(text)).toThrow(message);
  expect(() => parseRules(text)).toThrow(/^(?:\d+ problems in the rules:\n)?\d+:\d+: /);
});

/** Ten levels of ten aliases each. */
function bomb(): string {
  const names = [...'abcdefghij'];
  const lines = names.map(
    (name, i) => `${name}: &${name} [${names.map(() => (i === 0 ? 'x' : `*${names[i - 1]}`)).join(', ')}]`,
  );
  return lines.join('\n');
}

test('a document longer than 1 MB, or than maxLength, is refused', () => {
  expect(() => parseRules(' '.repeat(1_000_001))).toThrow(
    'the document has 1000001 characters; at most 1000000 are read',
  );
  expect(() => parseRules(inRule('cost: 1'), { maxLength: 10 })).toThrow('at most 10 are read');
});

test('a value that is not a document is refused, with the reason', () => {
  const circle: Record<string, unknown> = { rules: [] };
  circle.rules = [circle];
  const wide = Array.from({ length: 300_000 }, () => 0);
  const parse = (source: unknown) => () => parseRules(source as string);
  expect(parse(undefined)).toThrow('not undefined');
  expect(parse(5)).toThrow('the document must be an object, not 5');
  expect(parse(circle)).toThrow('nested more than 64 levels deep');
  expect(parse({ rules: wide })).toThrow('more than 200000 values');
  expect(parse({ rules: [{ name: 'a', limit: () => 5 }] })).toThrow(
    'rules[0].limit: the document has texts, numbers',
  );
  expect(parse({ rules: new Map() })).toThrow('not an object');
  expect(parse({ rules: [{ name: 'a', cost: Number.NaN }] })).toThrow('not NaN');
  expect(parse(JSON.parse('{ "__proto__": { "rules": [] } }'))).toThrow("cannot be named '__proto__'");
});

test('parseRules copies a document passed as an object: changing it later has no effect', () => {
  const limit = { gcra: { limit: 1, period: '1m' } };
  const source = { rules: [{ name: 'a', limit }] };
  const set = parseRules(source);
  limit.gcra.limit = 5;
  source.rules.pop();
  expect(set.document.rules?.[0]?.limit).toEqual({ gcra: { limit: 1, period: '1m' } });
});

test('anchors, aliases, tabs in JSON, CRLF and a byte order mark are accepted', () => {
  expect(
    parseRules(
      'rules:\n  - { name: a, limit: &l { gcra: { limit: 1, period: 1m } } }\n  - { name: b, limit: *l }',
    ).rules,
  ).toHaveLength(2);
  const object = { rules: [{ name: 'a', limit: { gcra: { limit: 1, period: '1m' } } }] };
  expect(parseRules(JSON.stringify(object, null, '\t')).rules).toHaveLength(1);
  expect(parseRules(`\uFEFF${inRule('cost: 2').replaceAll('\n', '\r\n')}`).rules).toHaveLength(1);
});

test('a shadow rule can set its own plan only if it inherits its cost', () => {
  const text = (cost: string) => `plans: { free: { cost: 1 }, pro: { cost: 5 } }
rules:
  - { name: api, cost: $plan.cost, plan: free, ${LIMIT} }
  - { name: next, mode: shadow, compare: api, plan: pro, ${cost} ${LIMIT} }`;
  expect(
    parseRules(text(''))
      .rule('next')
      ?.cost.of({} as never),
  ).toBe(5);
  expect(() => parseRules(text('cost: 2,'))).toThrow("plan has no effect in rule 'next'");
});

test('a problem inside an aliased value is reported where the value is written', () => {
  const text =
    'rules:\n  - { name: a, limit: &l { gcra: { limit: -1, period: 1m } } }\n  - { name: b, limit: *l }';
  expect(() => parseRules(text)).toThrow(/^2:43: gcra: limit must be a whole number/);
});
