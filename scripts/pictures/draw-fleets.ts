import { DEMANDS, FLEETS, type Fleet, POLICY, PREFETCH } from './fleet.js';
import { BLUE, GREEN, GRID, line, ORANGE, picture, short, text } from './svg.js';
import { code, table } from './table.js';
import { WORDS, type Words } from './words.js';

const COLOURS = [BLUE, GREEN, ORANGE] as const;

const PLOT = 300;
const HIGH = 180;
const TOP = 44;
const BOTTOM = TOP + HIGH;
const LEFTS = [44, 424] as const;
const WIDTH = 744;
const HEIGHT = BOTTOM + 60;

const percent = (part: number): string => `${Math.round(part * 100)} %`;
const x = (left: number, processes: number): string =>
  short(left + (PLOT * Math.log(processes / FLEETS[0]!)) / Math.log(FLEETS.at(-1)! / FLEETS[0]!));

interface Panel {
  title(words: Words): string;
  readonly most: number;
  readonly steps: readonly number[];
  of(fleet: Fleet): number;
}

const PANELS: readonly Panel[] = [
  {
    title: ({ storeCalls }) => storeCalls,
    most: 110,
    steps: [0, 25, 50, 75, 100],
    of: ({ calls }) => calls,
  },
  {
    title: ({ idlePermits }) => idlePermits(POLICY.limit.toLocaleString('en')),
    most: 1_100,
    steps: [0, 250, 500, 750, 1_000],
    of: ({ idle }) => idle,
  },
];

/** Savings and costs of prefetch, by the number of processes that share a limit. */
export function drawFleets(fleets: readonly Fleet[], words: Words = WORDS.en): string {
  const title = `prefetch { most: ${PREFETCH.most} }: ${words.fleetTitle(FLEETS[0]!, FLEETS.at(-1)!)}`;
  return picture(WIDTH, HEIGHT, title, [
    ...PANELS.flatMap((panel, i) => drawPanel(panel, LEFTS[i]!, fleets, words)),
    ...DEMANDS.flatMap((demand, i) => [
      line(COLOURS[i]!, `M${LEFTS[0] + 150 * i} ${HEIGHT - 12}h24`, 'stroke-width="2"'),
      text(LEFTS[0] + 150 * i + 30, HEIGHT - 8, words.asked(percent(demand))),
    ]),
    text(LEFTS[0] + 150 * DEMANDS.length, HEIGHT - 8, words.ofTheLimit),
  ]);
}

function drawPanel(
  { title, most, steps, of }: Panel,
  left: number,
  fleets: readonly Fleet[],
  words: Words,
): string[] {
  const y = (value: number) => short(BOTTOM - (HIGH * value) / most);
  return [
    text(left, 20, title(words), 'font-weight="bold"'),
    line(GRID, steps.map((step) => `M${left} ${y(step)}h${PLOT}`).join(''), 'opacity=".35"'),
    ...steps.map((step) => text(left - 6, Number(y(step)) + 4, String(step), 'text-anchor="end"')),
    ...FLEETS.map((size) => text(Number(x(left, size)), BOTTOM + 16, String(size), 'text-anchor="middle"')),
    text(left + PLOT / 2, BOTTOM + 32, words.processes, 'text-anchor="middle"'),
    ...DEMANDS.map((demand, i) => {
      const points = fleets
        .filter((fleet) => fleet.demand === demand)
        .map((fleet) => `${x(left, fleet.processes)} ${y(of(fleet))}`);
      return line(COLOURS[i]!, `M${points.join('L')}`, 'stroke-width="2"');
    }),
  ];
}

/** The same figures as a table. */
export function fleetTable(fleets: readonly Fleet[]): string {
  const figures = (processes: number) =>
    DEMANDS.map((demand) => {
      const { calls, passed, idle } = fleets.find(
        (fleet) => fleet.processes === processes && fleet.demand === demand,
      )!;
      return `${calls.toFixed(1)} · ${idle} · ${passed.toFixed(1)} %`;
    });
  return [
    `${code(`slidingWindow({ limit: ${POLICY.limit}, window: '10s' })`)}, ${code(`prefetch: { most: ${PREFETCH.most} }`)}: ` +
      'calls of the store for 100 decisions · most permits idle at one time · of what passes without',
    '',
    table(
      ['processes', ...DEMANDS.map((demand) => `asked: ${percent(demand)} of the limit`)],
      FLEETS.map((processes) => [processes, ...figures(processes)]),
    ),
  ].join('\n');
}
