import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { withoutVariables } from './promql.js';

export const folder = resolve(__dirname, '../../../docs/observability');
export const read = (file: string): string => readFileSync(resolve(folder, file), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A query, and the texts with labels of its result. */
export interface Query {
  readonly where: string;
  readonly expr: string;
  readonly texts: readonly string[];
}

export const dashboard: Dashboard = JSON.parse(read('grafana-dashboard.json'));

export const rules: readonly Rule[] = parse(read('prometheus-rules.yml')).groups.flatMap(
  (group: { rules: Rule[] }) => group.rules,
);

const ofPanels: Query[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ where: `panel "${title}"`, expr, texts: [legendFormat] })),
);

/** `label_values(metric, label)` is a function of Grafana: as PromQL it is `sum by (label) (metric)`. */
const ofVariables: Query[] = dashboard.templating.list.flatMap(({ name, query }) => {
  const { query: text } = (typeof query === 'object' ? query : {}) as { query?: string };
  const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(text ?? '') ?? [];
  return metric === undefined
    ? []
    : [{ where: `variable ${name}`, expr: `sum by (${label}) (${metric})`, texts: [] }];
});

const ofRules: Query[] = rules.map(({ record, alert, expr, annotations = {} }) => ({
  where: `rule ${record ?? alert}`,
  expr,
  texts: Object.values(annotations),
}));

/** Every query of the dashboard and of the rules, as Prometheus gets it. */
export const queries: readonly Query[] = [...ofPanels, ...ofVariables, ...ofRules].map((query) => ({
  ...query,
  expr: withoutVariables(query.expr),
}));
