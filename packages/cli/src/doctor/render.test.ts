import { Output } from '../output.js';
import { exitCodeOf, type Finding } from './finding.js';
import { render } from './render.js';

const output = (columns: number, isTTY = false) =>
  new Output({ write: () => true, columns, isTTY }, false, {}, false);
const eviction: Finding = {
  id: 'eviction-policy',
  level: 'warning',
  what: 'maxmemory-policy is allkeys-lru',
  why: 'When memory is full, a key is deleted.',
  fix: 'CONFIG SET maxmemory-policy noeviction',
  node: '127.0.0.1:7001',
};
const fine: Finding = { id: 'clock', level: 'ok', what: 'all clocks are within 1 ms', why: '', fix: '' };

test('the report begins with the worst finding, merges a finding of several servers, and ends with totals', () => {
  const lines = render([fine, eviction, { ...eviction, node: '127.0.0.1:7002' }], output(80));
  expect(lines.join('\n')).toBe(`warning eviction-policy
  maxmemory-policy is allkeys-lru (127.0.0.1:7001, 127.0.0.1:7002)
  Why: When memory is full, a key is deleted.
  Fix: CONFIG SET maxmemory-policy noeviction

ok clock: all clocks are within 1 ms
0 errors, 2 warnings, 0 notes; 1 check found nothing wrong`);
});

test('a terminal that reports 0 columns counts as 80 columns wide', () => {
  expect([output(0, true).width, output(0).width]).toEqual([80, 1_000]);
});

test('the report fits a terminal of 40 columns', () => {
  const lines = render([eviction, fine], output(40));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(40);
  expect(lines.join(' ').replace(/\s+/g, ' ')).toContain('CONFIG SET maxmemory-policy noeviction');
});

test('control characters from a server are escaped, and a terminal shows levels in colour', () => {
  const written = (finding: Finding, isTTY: boolean) => {
    let text = '';
    const write = (chunk: string) => {
      text += chunk;
    };
    const out = new Output({ write, columns: 80, isTTY }, false, {}, false);
    out.lines(render([finding], out));
    return text;
  };
  const hostile = { ...eviction, what: 'a\u001b[2Jb\u202ec\r\nd' };
  expect(written(hostile, false)).toContain('a\\u{1b}[2Jb\\u{202e}c\\u{d}\\u{a}d');
  expect(written(hostile, false)).not.toContain('\u001b');
  expect(written(eviction, true)).toContain('\u001b[33mwarning eviction-policy\u001b[39m');
});

test.each([
  [0, [fine]],
  [0, [fine, { ...eviction, level: 'note' }]],
  [1, [fine, eviction]],
  [2, [eviction, { ...eviction, level: 'error' }, fine]],
] as const)('the exit code is %i for these findings', (code, findings) => {
  expect(exitCodeOf(findings)).toBe(code);
});
