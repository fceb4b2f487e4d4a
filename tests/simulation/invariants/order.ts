import { isHeld, isOfStore } from '../calls.js';
import { mayBeUnnoticed, TIMERS } from './deadlines.js';
import type { InvariantOf } from './invariant.js';

/**
 * Waiting is first come, first served: at the store each booking is due after the one before it. With a margin a later call may use a moment before, if
 * it delays no booking.
 */
export const firstComeFirstServed: InvariantOf = ({ settings, broken }) => {
  const plain = new Set(
    settings.flatMap(({ margin, limit }) => (margin === 0 ? Object.keys(limit.rules) : [])),
  );
  const lasts = new Map<string, { readonly era: number; readonly moment: number }>();
  return {
    kept({ call, answer, era, process }) {
      const [part] = call.parts as [(typeof call.parts)[0]];
      const key = `${part.limit.name} ${part.key}`;
      const { operation } = call;
      if (operation === 'consume' || operation === 'peek' || operation === 'renew') return;
      if (operation !== 'acquire') {
        lasts.delete(key); // a booking was cancelled, or an operator has changed the key
        return;
      }
      if (!answer.allowed || part.limit.rule.algorithm.holders !== undefined || !plain.has(part.limit.name))
        return;
      const moment = answer.now + answer.wait;
      const last = lasts.get(key);
      if (
        last !== undefined &&
        last.era === era &&
        moment < last.moment &&
        answer.parts[0]!.override === undefined
      )
        broken(
          `${process.name}: acquire ${key} is due at ${moment}, before an earlier one at ${last.moment}`,
          key,
        );
      if (answer.parts[0]!.override === undefined) lasts.set(key, { era, moment });
      else lasts.delete(key);
    },
  };
};

/** In each process, waiting calls of a key resolve in the order of their moments. */
export const waitsEndInOrder: InvariantOf = ({ broken }) => {
  /** The loss or jump before each booking, by its process, limit, key and moment. */
  const eras = new Map<string, number>();
  const lasts = new Map<string, { readonly era: number; readonly due: number }>();
  return {
    kept({ call, answer, era, process }) {
      const [{ limit, key }] = call.parts as [(typeof call.parts)[0]];
      if (call.operation === 'acquire')
        eras.set(`${process.name} ${limit.name} ${key} ${answer.parts[0]!.at}`, era);
    },
    ended({ kind, member, settings: { limit }, key, decision }) {
      if (kind !== 'acquire' || !decision?.allowed || !isOfStore(decision) || isHeld(limit)) return;
      const { process } = member;
      const due = process.product.DecisionRecord.taken(decision)![0]!.at;
      const own = `${process.name} ${Object.keys(limit.rules)[0]} ${key}`;
      const era = eras.get(`${own} ${due}`)!;
      const last = lasts.get(own);
      if (last !== undefined && last.era === era && due < last.due)
        broken(`${own}: a call due at ${due} resolved after one due at ${last.due}`, `${limit.name} ${key}`);
      lasts.set(own, { era, due });
    },
  };
};

/** A call waits as long as its answer says, and for no booking from before a jump of the clock. */
export const waitsEndWhenTheyAreDue: InvariantOf = ({ world, broken }) => {
  /** When each booking is due in virtual time, by its process, limit, key and moment. */
  const dues = new Map<string, number>();
  return {
    kept({ call, answer, process, at }) {
      const [{ limit, key }] = call.parts as [(typeof call.parts)[0]];
      if (call.operation === 'acquire')
        dues.set(`${process.name} ${limit.name} ${key} ${answer.parts[0]!.at}`, at + answer.wait);
    },
    ended({ kind, member, settings: { limit, deadline }, key, decision, startedAt, endedAt }) {
      const { process } = member;
      if (kind !== 'acquire' || !decision?.allowed || !isOfStore(decision) || isHeld(limit)) return;
      if (process.frozenSince(startedAt) > 0 || mayBeUnnoticed(world.server.jumps)) return;
      const { at } = process.product.DecisionRecord.taken(decision)![0]!;
      const own = `${process.name} ${Object.keys(limit.rules)[0]} ${key}`;
      const late = endedAt! - dues.get(`${own} ${at}`)!;
      // Of two replies that overtake each other the later call may have the earlier moment.
      if (late > 2 * deadline * 1000 + TIMERS)
        broken(`${own}: a call resolved ${late} µs late`, `${limit.name} ${key}`);
    },
  };
};
