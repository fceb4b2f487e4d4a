import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8');

function found(pattern: RegExp): string[] {
  const rules = pattern.exec(page)?.[1];
  if (rules === undefined) throw new Error(`docs/cli.md has no ${pattern}`);
  return rules.split(' ');
}

/** The rules of the user in `docs/cli.md` who cannot write. */
export const ONCALL_RULES = found(/^user oncall on >\S+ (.*)$/m);
/** Rules that a cluster also needs. */
export const ONCALL_CLUSTER_RULES = found(/A cluster also needs `(.*?)`/);
