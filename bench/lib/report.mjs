import { AGAIN, PEER } from './contenders/index.mjs';
import { median, quantile, ratio } from './measure.mjs';
import { spread } from './noise.mjs';

/** Three figures say enough. */
export const short = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const percent = (part) => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
const thousands = (rate) => short(rate / 1000);

/** Markdown, padded so that it can be read as it is. */
export function table(title, columns, rows) {
  const lines = [[title, ...columns], ...rows];
  const widths = [title, ...columns].map((_, i) => Math.max(3, ...lines.map((line) => line[i].length)));
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const pad = (line) =>
    row(line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))));
  const rule = row(widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)));
  return [pad(lines[0]), rule, ...lines.slice(1).map(pad)].join('\n');
}

const peerOf = (column) => column.find(({ contender }) => contender.id === PEER.redis);

/** How many times as many decisions per second as rate-limiter-flexible, in one cell. */
export const speedOf = (column, cell) => ratio(cell.rates, peerOf(column).rates);

const named = ([column]) => column.map(({ contender }) => contender).filter(({ id }) => id !== AGAIN);

/** The tables of what was measured on Redis: ratios, numbers, CPU, latency. */
export function redisTables(columns) {
  const who = named(columns);
  const names = columns.map(([{ column }]) => column);
  const cells = (title, value) =>
    table(
      title,
      names,
      who.map((contender) => [
        contender.name,
        ...columns.map((column) =>
          value(
            column.find((cell) => cell.contender === contender),
            column,
          ),
        ),
      ]),
    );
  return [
    cells('decisions/s ÷ rate-limiter-flexible', (cell, column) => short(speedOf(column, cell))),
    cells('thousand decisions/s', ({ rates }) => thousands(median(rates))),
    cells('Redis CPU, µs a decision', ({ redisCpu }) => short(redisCpu)),
    cells('client CPU, µs a decision', ({ clientCpu }) => short(clientCpu)),
    cells('p50 / p99 of a decision, ms', ({ latencies }) =>
      [0.5, 0.99].map((q) => latencyOf(quantile(latencies, q))).join(' / '),
    ),
  ].join('\n\n');
}

/** @param sizes bytes of a key, by contender */
export const sizesTable = (columns, sizes) =>
  table(
    'on Redis',
    ['bytes a key'],
    named(columns).map((contender) => [contender.name, sizes.get(contender).toFixed(0)]),
  );

const latencyOf = (ms) => (ms < 0.01 ? ms.toFixed(4) : short(ms));

/** In memory: decisions/s one after the other, beside two peers, and bytes. */
export function memoryTable(measured, keys) {
  const rates = (id, kind) => measured.find(({ contender }) => contender.id === id)[kind];
  const count = keys.toLocaleString('en');
  const columns = ['one', 'many'].flatMap((kind) => {
    const place = kind === 'one' ? 'one key' : `${count} keys`;
    return [
      [`${place}: ÷ RateLimiterMemory`, (found) => short(ratio(found[kind], rates(PEER.memory, kind)))],
      ['÷ LocalStore', (found) => short(ratio(found[kind], rates(PEER.sync, kind)))],
      ['million/s', (found) => short(median(found[kind]) / 1e6)],
    ];
  });
  columns.push(
    ['bytes a key', ({ total }) => total.toFixed(0)],
    ['of them its string', ({ own }) => own.toFixed(0)],
    ['above it', ({ total, own }) => (total - own).toFixed(0)],
  );
  return table(
    'memory, one after the other',
    columns.map(([name]) => name),
    measured.map((found) => [found.contender.name, ...columns.map(([, value]) => value(found))]),
  );
}

/** What else went on, and how far apart two are that do the same. */
export function noiseText({ load, others, steal }, columns) {
  const peers = columns.map(peerOf);
  const twice = columns.map((column) =>
    speedOf(
      column,
      column.find(({ contender }) => contender.id === AGAIN),
    ),
  );
  const slices = median(peers.map(({ rates }) => spread(rates)));
  return [
    others > 0.1
      ? `Noise: THE MACHINE WAS LOADED: others used ${percent(others)} of its CPU`
      : `Noise: the machine was quiet: others used ${percent(others)} of its CPU`,
    `load average ${load.map((value) => value.toFixed(1)).join(' → ')}`,
    `stolen by its host ${steal === undefined ? 'unknown' : percent(steal)}`,
    `slices of rate-limiter-flexible ± ${percent(slices)}`,
    `measured twice it is ${short(Math.min(...twice))} … ${short(Math.max(...twice))} of itself`,
  ].join('; ');
}
