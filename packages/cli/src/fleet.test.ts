import { type Fleet, noteUnknown } from './fleet.js';

function notesOf(kind: string, limiter: string): string[] {
  const notes: string[] = [];
  const fleet = { processes: [], limiters: [{ definition: { name: 'login', kind }, processes: [] }] };
  noteUnknown(
    { notes: { say: (text: string) => notes.push(text) } } as never,
    fleet as unknown as Fleet,
    limiter,
  );
  return notes;
}

test('a name that no process has published is noted with the known ones', () => {
  expect(notesOf('limiter', 'logn')).toEqual([
    "No process has published a limiter 'logn'. Known are: login.",
  ]);
  expect(notesOf('limiter', 'login')).toEqual([]);
  expect(notesOf('factory', 'logn')).toEqual([]);
});
