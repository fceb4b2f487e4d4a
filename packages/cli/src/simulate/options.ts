import type { RuleSet } from '@sluice/rules';
import type { JsonFields, LogFormatName, SimulateOptions } from '@sluice/rules/simulate';
import { CliError } from '../cli-error.js';

type Options = Readonly<Record<string, string | boolean | undefined>>;

/** Converts the options of the command to options of `simulate`. @throws CliError */
export function simulateOptions(options: Options, against: RuleSet | undefined): SimulateOptions {
  const { format, fields, target, sortWithin, maxKeys } = options;
  return {
    against,
    ...(format !== undefined && { format: String(format) as LogFormatName }),
    ...(fields !== undefined && { fields: fieldsOf(String(fields)) }),
    ...(target !== undefined && { target: shareOf(String(target)) }),
    ...(sortWithin !== undefined && { sortWithin: String(sortWithin) }),
    ...(maxKeys !== undefined && { maxKeys: Number(maxKeys) }),
  };
}

/** `1%`, `0.1 %` or `0.01`. */
export function shareOf(text: string): number {
  const [, number, percent] = /^(\d{1,3}(?:\.\d{1,9})?) ?(%?)$/.exec(text) ?? [];
  const share = Number(number) / (percent === '%' ? 100 : 1);
  if (share >= 0 && share < 1) return share;
  throw new CliError(
    `--target must be a share below 100 %, not ${JSON.stringify(text)}.`,
    'For example: --target 1%, --target 0.1%',
  );
}

/** `time=ts,user=claims.sub` */
function fieldsOf(text: string): JsonFields {
  const pairs = text.split(',').map((pair) => {
    const at = pair.indexOf('=');
    if (at > 0 && at < pair.length - 1) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    throw new CliError(
      `--fields takes name=field, not ${JSON.stringify(pair)}.`,
      'For example: --fields time=ts,ip=client.address,user=claims.sub',
    );
  });
  return Object.fromEntries(pairs) as JsonFields;
}
