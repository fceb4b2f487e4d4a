import { parser } from '@prometheus-io/lezer-promql';

type Node = NonNullable<ReturnType<typeof parser.parse>['topNode']>;

/** A selector: a name of a metric, or a pattern of `__name__`. */
export interface Selector {
  readonly text: string;
  readonly name: Matcher;
  readonly matchers: readonly (Matcher & { readonly label: string })[];
  /** Labels of the `by` and `on` around it. */
  readonly grouping: readonly string[];
}

interface Matcher {
  readonly op: string;
  readonly value: string;
}

export const matches = ({ op, value }: Matcher, text: string): boolean => {
  const equal = op.endsWith('~') ? new RegExp(`^(?:${value})$`).test(text) : value === text;
  return op.startsWith('!') ? !equal : equal;
};

const GRAFANA: Readonly<Record<string, string>> = {
  '${datasource}': 'prometheus',
  $__rate_interval: '5m',
  $limiter: '.*',
};

/** A query as Grafana sends it. */
export const withoutVariables = (query: string): string =>
  Object.entries(GRAFANA).reduce((text, [variable, value]) => text.replaceAll(variable, value), query);

/** @throws Error if it is not PromQL */
export function selectorsOf(query: string): Selector[] {
  const textOf = ({ from, to }: Node) => query.slice(from, to);
  const selectors: Selector[] = [];
  const visit = (node: Node, grouping: readonly string[]) => {
    if (node.type.isError) throw new Error(`${query}\nis no PromQL at ${node.from}`);
    if (node.name === 'VectorSelector') selectors.push(selectorOf(node, grouping, textOf));
    else for (const child of childrenOf(node)) visit(child, [...grouping, ...groupingOf(node, textOf)]);
  };
  visit(parser.parse(query).topNode, []);
  return selectors;
}

/** The labels of its result: of its outermost aggregation, which must have `by`; undefined if they are the labels of its metric. */
export function labelsOfResult(query: string): readonly string[] | undefined {
  const textOf = ({ from, to }: Node) => query.slice(from, to);
  const find = (node: Node): readonly string[] | undefined => {
    if (node.name === 'AggregateExpr') return groupingOf(node, textOf);
    return childrenOf(node).reduce<readonly string[] | undefined>(
      (known, child) => known ?? find(child),
      undefined,
    );
  };
  return find(parser.parse(query).topNode);
}

function selectorOf(node: Node, grouping: readonly string[], textOf: (node: Node) => string): Selector {
  const named = node.getChild('Identifier');
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map(
    (matcher) => ({
      label: textOf(matcher.getChild('LabelName')!),
      op: textOf(matcher.getChild('MatchOp')!),
      value: JSON.parse(textOf(matcher.getChild('StringLiteral')!)) as string,
    }),
  );
  const name = named ? { op: '=', value: textOf(named) } : matchers.find(({ label }) => label === '__name__');
  if (name === undefined) throw new Error(`${textOf(node)} names no metric`);
  return {
    text: textOf(node),
    name,
    matchers: matchers.filter(({ label }) => label !== '__name__'),
    grouping,
  };
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

function groupingOf(node: Node, textOf: (node: Node) => string): string[] {
  return ['AggregateModifier', 'MatchingModifierClause'].flatMap((modifier) =>
    node
      .getChildren(modifier)
      .flatMap((clause) => clause.getChildren('GroupingLabels'))
      .flatMap((labels) => labels.getChildren('LabelName'))
      .map(textOf),
  );
}
