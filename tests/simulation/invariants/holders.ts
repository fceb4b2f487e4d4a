import { type Held, neverMoreHeld } from '../../correctness/race/judge-of-holders.js';
import type { Kept } from '../server.js';
import type { InvariantOf } from './invariant.js';

type Holder = { -readonly [field in keyof Held]: Held[field] };

/** docs/reliability.md: at no moment one holder too many, and a lease ends by itself. */
export const neverOneHolderTooMany: InvariantOf = ({ settings, broken }) => {
  const rules = new Map(
    settings.flatMap(({ limit }) =>
      Object.entries(limit.rules).flatMap(([name, { lease, limit: most }]) =>
        lease === undefined ? [] : [[name, { lease, most }] as const],
      ),
    ),
  );
  /** Holders by their ids, of each key from one loss, jump, reset or override to the next. */
  const periods = new Map<string, Map<number, Holder>[]>();
  const eras = new Map<string, number>();
  /** Holders that an override admitted: they keep their permits when it ends. */
  const more = new Set<string>();
  const overridden = new Set<string>();

  const see = ({ call, answer, era }: Kept) => {
    const [part] = call.parts as [Kept['call']['parts'][0]];
    const rule = rules.get(part.limit.name);
    if (rule === undefined) return;
    const key = `${part.limit.name} ${part.key}`;
    const all = periods.get(key) ?? [];
    periods.set(key, all);
    const { operation } = call;
    if (all.length === 0 || eras.get(key) !== era || operation === 'reset' || operation === 'override')
      all.push(new Map());
    eras.set(key, era);
    if (operation === 'override') overridden.add(key);
    const holders = all.at(-1)!;
    const { at, override } = answer.parts[0]!;
    const { now } = answer;
    const id = operation === 'refund' ? part.at : at;
    const holder = holders.get(id);
    if (operation === 'refund') {
      if (holder !== undefined) holder.end = Math.min(holder.end, now);
    } else if (['consume', 'acquire', 'renew'].includes(operation) && answer.allowed && part.cost > 0) {
      // A waiting call learns later when it was admitted.
      const unsure = operation === 'renew' && holder === undefined && overridden.has(key);
      if (override !== undefined || unsure) more.add(`${key} ${id}`);
      if (more.has(`${key} ${id}`)) return;
      if (holder === undefined) holders.set(id, { start: now, end: now + rule.lease, cost: part.cost });
      else if (holder.end > now) holder.end = now + rule.lease;
      else broken(`${key}: ${id} was renewed at ${now}, after its lease had ended at ${holder.end}`, key);
    }
  };

  return {
    kept: see,
    calm() {
      for (const [key, all] of periods) {
        const { most } = rules.get(key.split(' ')[0]!)!;
        for (const holders of all) {
          const wrong = neverMoreHeld(most, [...holders.values()]);
          if (wrong !== undefined) broken(`${key}: ${wrong}`, key);
        }
      }
    },
  };
};
