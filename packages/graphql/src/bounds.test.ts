import { RateLimiter, tokenBucket } from '@sluice/core';
import { buildSchema, execute, parse, validate } from 'graphql';
import { type Random, randomFrom, seedOf } from '../../../tests/support/random.js';
import { costLimit } from './index.js';

const USUAL = 3;
const schema = buildSchema(`
  type Query { node: Node  any: Any  nodes(first: Int): [Node!] }
  interface Named { name: String }
  type Node implements Named { id: ID  name: String  next: Node  any: Any  named: Named  all(first: Int): [Any]  page(first: Int): Page }
  type Other implements Named { id: ID  name: String  page(first: Int): Page }
  type Page { nodes: [Node]  edges: [Edge]  total: Int }
  type Edge { node: Node }
  union Any = Node | Other
`);

/** The fields of each type: their types, and whether they have the argument `first`. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, readonly [type: string, sized?: true]>>>> = {
  Query: { node: ['Node'], any: ['Any'], nodes: ['Node', true] },
  Named: { name: ['leaf'] },
  Node: {
    ...{ id: ['leaf'], name: ['leaf'], next: ['Node'], any: ['Any'], named: ['Named'] },
    ...{ all: ['Any', true], page: ['Page', true] },
  },
  Other: { id: ['leaf'], name: ['leaf'], page: ['Page', true] },
  Page: { nodes: ['Node'], edges: ['Edge'], total: ['leaf'] },
  Edge: { node: ['Node'] },
  Any: {},
};
const ABSTRACT = ['Any', 'Named'];
const CONCRETE = ['Node', 'Other'];

/** A random document: fields under aliases, inline fragments, fragments that refer to later ones. */
function documentOf(random: Random): string {
  const fragments = Array.from({ length: 4 }, (_, i) => ({ name: `F${i}`, type: CONCRETE[random(2)]! }));
  let names = 0;
  const pick = <T>(all: readonly T[]): T => all[random(all.length)]!;
  const selections = (type: string, depth: number, after: number): string => {
    const all = ['__typename'];
    for (let i = random(4); i >= 0; i -= 1) {
      const spread = fragments.find(
        (one, at) => at > after && (one.type === type || ABSTRACT.includes(type)),
      );
      if (ABSTRACT.includes(type) && random(2) === 0) {
        const condition = pick(CONCRETE);
        all.push(`... on ${condition} { ${selections(condition, depth, after)} }`);
      } else if (spread !== undefined && random(4) === 0) all.push(`...${spread.name}`);
      else all.push(...field(type, depth, after));
    }
    return all.join(' ');
  };
  const field = (type: string, depth: number, after: number): string[] => {
    const fields = Object.entries(FIELDS[type]!).filter(([, [kind]]) => kind === 'leaf' || depth > 0);
    if (fields.length === 0) return [];
    const [name, [kind, sized]] = pick(fields);
    const args = sized && random(2) === 0 ? `(first: ${random(12)})` : '';
    names += 1;
    const below = kind === 'leaf' ? '' : ` { ${selections(kind, depth - 1, after)} }`;
    return [`a${names}: ${name}${args}${below}`];
  };
  const query = `{ ${selections('Query', 3, -1)} }`;
  const defined = fragments.map(
    ({ name, type }, i) => `fragment ${name} on ${type} { ${selections(type, 2, i)} }`,
  );
  return [query, ...defined].join('\n');
}

/** What a resolver returns: every list has as many items as its size says. */
function rootOf(random: Random): unknown {
  const items = (count: number) => Array.from({ length: count }, node);
  const page = ({ first = USUAL }: { first?: number }) => ({
    nodes: () => items(first),
    edges: () => items(first).map((one) => ({ node: one })),
    total: 1,
  });
  const node = (): unknown => ({
    ...{ __typename: CONCRETE[random(2)], id: 1, name: 'a', next: only, any: node, named: node },
    ...{ all: ({ first = USUAL }) => items(first), page },
  });
  const only = () => ({ ...(node() as object), __typename: 'Node' });
  return {
    ...{ node: only, any: node },
    nodes: ({ first = USUAL }) => Array.from({ length: first }, only),
  };
}

test('a result whose lists are as long as requested costs at most the requested cost', async () => {
  const policy = tokenBucket({ capacity: 1000, refill: 1, every: '1s' });
  const limiter = new RateLimiter({ name: 'points', policy });
  const limit = costLimit({ limiter, key: () => 'ann', defaults: { listSize: USUAL } });
  let exact = 0;
  for (let run = 0; run < 60; run += 1) {
    const random = randomFrom(seedOf(run));
    const text = documentOf(random);
    const document = parse(text);
    const invalid = validate(schema, document).filter(({ message }) => !message.includes('never used'));
    expect([text, invalid.map(({ message }) => message)]).toEqual([text, []]);
    const { data, errors } = await execute({ schema, document, rootValue: rootOf(random) });
    const counted = limit.cost({ schema, document })!;
    const actual = counted.actual(data);
    if (actual > counted.cost || errors !== undefined)
      throw new Error(`${actual} > ${counted.cost}: ${text}`);
    if (actual === counted.cost) exact += 1;
  }
  // Unions and repeated fragments make an estimate too large, nothing else.
  expect(exact).toBeGreaterThan(5);
  await limiter.close();
});
