import fc from 'fast-check';
import { Agenda, type Appointment } from './agenda.js';

const steps = fc.array(
  fc.oneof(
    fc.record({ add: fc.nat(9) }),
    fc.record({ remove: fc.nat(99) }),
    fc.constant({ removeFirst: true }),
  ),
  { maxLength: 60 },
);

test('first is the earliest appointment; of equal moments, the one added first', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const agenda = new Agenda<number>();
      const all: Appointment<number>[] = [];
      let left: Appointment<number>[] = [];
      const remove = (one: Appointment<number> | undefined) => {
        if (one === undefined) return;
        agenda.remove(one);
        left = left.filter((other) => other !== one);
      };
      for (const step of list) {
        if ('add' in step) {
          const added = agenda.add(step.add, all.length);
          all.push(added);
          left.push(added);
        } else if ('remove' in step) remove(all[step.remove % Math.max(1, all.length)]);
        else remove(agenda.first);
        const [earliest] = [...left].sort((one, other) => one.at - other.at || one.value - other.value);
        expect(agenda.first).toBe(earliest);
      }
    }),
  );
});
