import { scrapeOfBusyApp } from './busy-app.js';
import { OF_REDIS } from './of-redis.js';
import { labelsOfResult, matches, type Selector, selectorsOf } from './promql.js';
import { dashboard, queries, rules } from './queries.js';
import { ADDED, readScrape, type Scrape } from './scrape.js';

/** The labels of each metric that queries may name, and their values; undefined where any value is fine. */
type Known = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string> | undefined>>;

let known: Known;
beforeAll(async () => {
  known = knownBy(readScrape(await scrapeOfBusyApp()));
});

function knownBy(scrape: Scrape): Known {
  const added = ADDED.map((label) => [label, undefined] as const);
  const recorded = rules.flatMap(({ record, expr }) =>
    record === undefined ? [] : [[record, expr] as const],
  );
  return new Map([
    ...[...scrape].map(([name, labels]) => [name, new Map([...labels, ...added])] as const),
    ...OF_REDIS.map((name) => [name, new Map(added)] as const),
    ...recorded.map(
      ([name, expr]) =>
        [name, new Map((labelsOfResult(expr) ?? []).map((label) => [label, undefined]))] as const,
    ),
  ]);
}

/** Names and values of a selector that no program emits. */
function missing({ text, name, matchers, grouping }: Selector): string[] {
  const metrics = [...known.keys()].filter((metric) => matches(name, metric));
  if (metrics.length === 0) return [`${text}: there is no such metric`];
  const valuesOf = (label: string) => metrics.map((metric) => known.get(metric)!.get(label));
  const hasLabel = (label: string) => metrics.every((metric) => known.get(metric)!.has(label));
  const labels = [...matchers.map(({ label }) => label), ...grouping];
  return [
    ...labels.filter((label) => !hasLabel(label)).map((label) => `${text}: it has no label ${label}`),
    ...matchers
      .filter(({ label }) => hasLabel(label))
      .filter((matcher) =>
        valuesOf(matcher.label).some(
          (values) => values !== undefined && ![...values].some((value) => matches(matcher, value)),
        ),
      )
      .map(({ label, op, value }) => `${text}: no value has ${label}${op}${value}`),
  ];
}

test('every query uses only metrics, labels and values that a program emits', () => {
  expect(queries.length).toBeGreaterThan(30);
  const wrong = queries.flatMap(({ where, expr }) =>
    selectorsOf(expr).flatMap((selector) => missing(selector).map((what) => `${where}: ${what}`)),
  );
  expect(wrong).toEqual([]);
});

test('every text uses only labels of its query', () => {
  const wrong = queries.flatMap(({ where, expr, texts }) => {
    const metrics = selectorsOf(expr).flatMap(({ name }) =>
      [...known.keys()].filter((metric) => matches(name, metric)),
    );
    const labels = labelsOfResult(expr) ?? metrics.flatMap((metric) => [...known.get(metric)!.keys()]);
    const named = texts.flatMap((text) =>
      [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label!),
    );
    return named.filter((label) => !labels.includes(label)).map((label) => `${where}: ${label}`);
  });
  expect(wrong).toEqual([]);
});

test('the dashboard has every metric of limits', () => {
  const selectors = queries.flatMap(({ expr }) => selectorsOf(expr));
  const unseen = [...known.keys()].filter((metric) => !selectors.some(({ name }) => matches(name, metric)));
  const families = new Set(unseen.map((metric) => metric.replace(/_(bucket|sum|count)$/, '')));
  const seen = (family: string) =>
    selectors.some(({ name }) => matches(name, `${family}_bucket`) || matches(name, `${family}_sum`));
  expect([...families].filter((family) => !seen(family))).toEqual(['target_info']);
});

describe('this test finds a wrong query', () => {
  test.each([
    ['sluice_decision_total', 'there is no such metric'],
    ['sluice_decisions_total{route="/"}', 'it has no label route'],
    ['sluice_decisions_total{sluice_result="refused"}', 'no value has sluice_result=refused'],
    ['sluice_decisions_total{sluice_mode=~"dry.*"}', 'no value has sluice_mode=~dry.*'],
    ['sum by (key) (rate(sluice_decisions_total[5m]))', 'it has no label key'],
    ['{__name__=~"sluice_decision_time(_seconds)?_bucket"}', 'there is no such metric'],
    ['sluice_leases / on (sluice_node) sluice_waiting', 'it has no label sluice_node'],
  ])('%s', (query, what) => {
    expect(selectorsOf(query).flatMap(missing).join('\n')).toContain(what);
  });

  test('a query that is not PromQL', () => {
    expect(() => selectorsOf('sum(rate(sluice_decisions_total[5m])')).toThrow('is no PromQL at');
  });
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard;

  test('has panels with unique ids that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test('uses the chosen data source in every panel with queries, and only existing variables', () => {
    const names = templating.list.map(({ name }) => name);
    const uids = panels.flatMap(({ datasource }) => datasource?.uid ?? []);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as Grafana has it
    expect(new Set(uids)).toEqual(new Set(['${datasource}']));
    const used = JSON.stringify(dashboard).matchAll(/\$\{?(?!__)(\w+)/g);
    expect([...used].map(([, name]) => name).filter((name) => !names.includes(name!))).toEqual([]);
  });
});
