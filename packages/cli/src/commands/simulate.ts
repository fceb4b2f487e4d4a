import { readFile, writeFile } from 'node:fs/promises';
import type { RuleSet } from '@sluice/rules';
import type { Simulation } from '@sluice/rules/simulate';
import { CliError } from '../cli-error.js';
import type { CommandDefinition } from '../command.js';
import { simulateOptions } from '../simulate/options.js';
import { render } from '../simulate/render.js';

export const simulate: CommandDefinition = {
  name: 'simulate',
  arguments: [['[logs...]', 'access logs, in order; .gz is compressed, - is the input']],
  options: [
    { flags: '--rules <file>', description: 'the rules to try, YAML or JSON' },
    { flags: '--log <file>', description: 'the first of the access logs' },
    { flags: '--against <file>', description: 'the rules in force: shows what would change' },
    { flags: '--target <share>', description: 'find the smallest limits that deny at most this: 1%' },
    { flags: '--format <name>', description: 'combined, common, json or alb; default: found by itself' },
    { flags: '--fields <name=field,...>', description: 'for JSON: time=ts,user=claims.sub, and so on' },
    { flags: '--sort-within <duration>', description: 'how far lines may be out of order; default 10s' },
    { flags: '--max-keys <n>', description: 'the most keys to count; default 1000000' },
    { flags: '--html <file>', description: 'also write a page with plots' },
  ],
  summary: 'replay an access log through rules: whom would they deny',
  description:
    'Replays an access log through rules, in memory and on the clock of the log. Shows what each limit denies, whom, and how much of it the ' +
    'keys use. Needs no Redis. Exits with 1 if a limit denies more than --target, or if requests are newly denied with --against.',
  example: [
    'simulate --rules limits.yaml --log access.log.gz',
    'limits.yaml denies 38 of them (0.4 %), and does not limit 12.',
  ],
  writes: false,
  offline: true,
  async run({ output, stdin, signal }, more, options) {
    const { rules, log, against, html } = options;
    const logs = [...(typeof log === 'string' ? [log] : []), ...more];
    if (typeof rules !== 'string' || logs.length === 0)
      throw new CliError(
        'simulate needs --rules and a log.',
        'For example: sluice simulate --rules limits.yaml --log access.log',
      );
    const before = against === undefined ? undefined : await rulesOf(String(against));
    const given = { ...simulateOptions(options, before), signal };
    const { simulate: run, isLogFormatError, simulationPage } = await import('@sluice/rules/simulate');
    const sources = logs.map((file) => (file === '-' ? stdin : file));
    let found: Simulation;
    try {
      found = await run(await rulesOf(rules), sources, given);
    } catch (error) {
      if (isLogFormatError(error))
        throw new CliError(
          `${error.message}.`,
          'For example: --format json --fields time=ts,path=request.url',
        );
      const { code, message } = error as NodeJS.ErrnoException;
      if (code?.startsWith('E')) throw new CliError(`The log cannot be read: ${message}`);
      throw error;
    }
    output.json(found);
    render(found, output, given.target);
    if (html !== undefined) await writePage(String(html), simulationPage(found));
    return isTooMuch(found, given.target) ? 1 : 0;
  },
};

function isTooMuch({ rules, newlyDenied }: Simulation, target: number | undefined): boolean {
  if (newlyDenied !== undefined && newlyDenied.requests > 0) return true;
  const limits = rules.rules.flatMap((rule) => rule.limits);
  return target !== undefined && limits.some(({ denied, requests }) => denied > target * requests);
}

async function rulesOf(file: string): Promise<RuleSet> {
  const { parseRules } = await import('@sluice/rules');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return parseRules(text, { file });
}

async function writePage(file: string, page: string): Promise<void> {
  try {
    await writeFile(file, page);
  } catch (error) {
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`);
  }
}
