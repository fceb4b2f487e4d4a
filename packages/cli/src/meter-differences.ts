import type { Policy } from '@sluice/core';
import type { RuleSet } from '@sluice/rules';
import { type Difference, FROM_ZERO } from './difference.js';
import { policyOf } from './words.js';

type Meter = NonNullable<ReturnType<RuleSet['meters']['get']>>;

/** The differences of the meters, by axis, plan and key. */
export function meterDifferences(before: RuleSet | undefined, after: RuleSet): Difference[] {
  const [old, now] = [before?.meters ?? new Map<string, Meter>(), after.meters];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names.flatMap((name) => ofMeter(`meter ${name}`, old.get(name), now.get(name)));
}

function ofMeter(rule: string, old: Meter | undefined, now: Meter | undefined): Difference[] {
  if (old === undefined) return [{ kind: 'added', rule, after: axesText(now!) }];
  if (now === undefined) return [{ kind: 'removed', rule }];
  const [from, to] = [linesOf(old), linesOf(now)];
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((what): Difference[] => {
    const [one, other] = [from.get(what), to.get(what)];
    if (one === undefined) return [{ kind: 'added', rule, what, after: other!.words }];
    if (other === undefined) return [{ kind: 'removed', rule, what, before: one.words }];
    if (one.exact === other.exact) return [];
    const form = one.words === other.words ? 'exact' : 'words';
    const note = one.algorithm === other.algorithm ? {} : { note: FROM_ZERO };
    return [{ kind: 'changed', rule, what, before: one[form], after: other[form], ...note }];
  });
}

interface Entry {
  /** For people. Equal words may omit numbers that differ. */
  readonly words: string;
  readonly exact: string;
  readonly algorithm?: string;
}

const plain = (words: string): Entry => ({ words, exact: words });
const lineOf = (policy: Policy): Entry => ({
  words: policyOf(policy),
  exact: JSON.stringify(policy),
  algorithm: policy.algorithm,
});

/** What may differ, by its name: an axis, an axis of a plan, an override of a key, the soft axes. */
function linesOf({ axes, plans = {}, soft, overrides = {} }: Meter): Map<string, Entry> {
  const lines = new Map<string, Entry>();
  for (const [axis, policy] of Object.entries(axes)) {
    const all = Object.entries(plans).map(([plan, policies]) => [plan, lineOf(policies[axis]!)] as const);
    const varies = all.some(([, line]) => line.exact !== all[0]![1].exact);
    if (varies) for (const [plan, line] of all) lines.set(`${axis} of plan ${plan}`, line);
    else lines.set(axis, lineOf(policy));
  }
  for (const [key, own] of Object.entries(overrides))
    for (const [axis, numbers] of Object.entries(own))
      lines.set(`${axis} of ${key}`, plain(JSON.stringify(numbers)));
  if (soft.length > 0) lines.set('soft', plain(soft.join(', ')));
  return lines;
}

const axesText = ({ axes }: Meter): string =>
  Object.entries(axes)
    .map(([axis, policy]) => `${axis} ${policyOf(policy)}`)
    .join('; ');
