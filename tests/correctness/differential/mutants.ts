export interface Mutant {
  readonly line: string;
  /** The changed line. */
  readonly changed: string;
  /** The tag of the algorithm that has the line, or `hold` for lines of engine/hold.lua; undefined in the rest of the frame. */
  readonly tag: string | undefined;
  readonly source: string;
}

/** Typical slips in hand-written Lua: edges, clamps, text for numbers, TTLs. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/math\.min\(/g, 'math.max('],
  [/math\.max\(/g, 'math.min('],
  [/format\('%\.0f', (.*)\)\)$/g, 'tostring($1))'],
  [/, 'PX', .*$/g, ')'],
  [/ and ends <= ended/g, ''],
  [/ and #state == #raw/g, ''],
  [/ floor\(/g, ' math.ceil('],
  [/ ceil\(/g, ' floor('],
  [/-(\w+) % /g, '$1 % '],
  [
    /local function normalize\(p, state, now\)$/g,
    'local function normalize(p, state, now)\nif true then return state end',
  ],
  [/or pack\('>ddd', (\w+), now, since\)/g, "or pack('>ddd', tonumber(tostring($1)), now, since)"],
];

/** Every slip at every place where it applies. */
export function mutantsOf(source: string): Mutant[] {
  const lines = source.split('\n');
  const mutants: Mutant[] = [];
  let tag: string | undefined;
  lines.forEach((line, i) => {
    const opens = /^if tag == '(\w\w)'/.exec(line)?.[1];
    if (opens !== undefined) tag = opens;
    if (line.startsWith('local LAPSES, OWNER')) tag = 'hold';
    if (line.startsWith('local MOST_TRIES')) tag = undefined;
    if (line.startsWith("error('SLUICE unknown algorithm") || line === 'if not simple then') tag = undefined;
    for (const [pattern, slip] of SLIPS) {
      for (const match of line.matchAll(pattern)) {
        const changed =
          line.slice(0, match.index) +
          match[0].replace(new RegExp(pattern.source), slip) +
          line.slice(match.index + match[0].length);
        const mutated = [...lines.slice(0, i), changed, ...lines.slice(i + 1)].join('\n');
        mutants.push({ line, changed, tag, source: guarded(mutated) });
      }
    }
  });
  return mutants;
}

/** Guards loops: a mutant may make one endless, which would block Redis. */
export const guarded = (source: string): string =>
  `local spins = 0\n${source.replace(/^(while .* do)/gm, "$1\nspins = spins + 1\nif spins > 100000 then error('endless') end")}`;
