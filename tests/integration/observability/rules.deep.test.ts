import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { promtool } from '../../support/prometheus.js';
import { run } from '../../support/run.js';
import { folder, queries, read, rules } from './queries.js';

const CASES = join(__dirname, 'rules.promtool.yml');

async function check(...args: string[]): Promise<string> {
  const { command, env } = await promtool();
  const { ok, output } = await run(command, args, { env });
  if (!ok) throw new Error(output);
  return output;
}

test('promtool accepts the rules', async () => {
  const output = await check(
    'check',
    'rules',
    '--lint=all',
    '--lint-fatal',
    join(folder, 'prometheus-rules.yml'),
  );
  expect(output).toContain(`${rules.length} rules found`);
});

test('Prometheus accepts every query and its types', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'sluice-queries-'));
  try {
    const file = join(scratch, 'rules.yml');
    const asRules = queries.map(({ expr }, i) => ({ record: `query:${i}`, expr }));
    await writeFile(file, stringify({ groups: [{ name: 'queries', rules: asRules }] }));
    expect(await check('check', 'rules', file)).toContain(`${queries.length} rules found`);
    await writeFile(file, stringify({ groups: [{ name: 'q', rules: [{ record: 'q', expr: 'rate(a)' }] }] }));
    await expect(check('check', 'rules', file)).rejects.toThrow('expected type range vector');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});

test('promtool accepts the configuration, which loads the rules', async () => {
  expect(await check('check', 'config', join(folder, 'prometheus.yml'))).toContain('1 rule files found');
});

test('alerts fire when they should', async () => {
  expect(await check('test', 'rules', CASES)).toContain('SUCCESS');
});

test.each(rules.flatMap(({ alert }) => alert ?? []))(
  '%s has a case in which it fires, and one in which it does not',
  (alert) => {
    const { tests } = parse(read(CASES)) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
    };
    const fires = tests
      .flatMap(({ alert_rule_test }) => alert_rule_test)
      .filter(({ alertname }) => alertname === alert)
      .map(({ exp_alerts }) => exp_alerts.length > 0);
    expect(new Set(fires)).toEqual(new Set([false, true]));
  },
);

test('promtool finds a wrong rule', async () => {
  await expect(check('check', 'rules', CASES)).rejects.toThrow('FAILED');
});
