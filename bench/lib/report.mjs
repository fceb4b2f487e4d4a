import { AGAIN, PEER } from './contenders/index.mjs';
import { median, quantile, ratio } from './measure.mjs';
import { loadText, percent, spread } from './noise.mjs';
import { table } from './table.mjs';

/** Three significant figures. */
export const short = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
const thousands = (rate) => short(rate / 1000);

const peerOf = (column) => column.find(({ contender }) => contender.id === PEER.redis);

/** Decisions per second divided by rate-limiter-flexible's, in one cell. */
export const speedOf = (column, cell) => ratio(cell.rates, peerOf(column).rates);

const named = ([column]) => column.map(({ contender }) => contender).filter(({ id }) => id !== AGAIN);

/** The tables of the measurements on Redis: ratios, numbers, CPU, latency. */
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
  const beside = (what) => (cell, column) => short(ratio(cell[what], peerOf(column)[what]));
  return [
    cells('decisions/s ÷ rate-limiter-flexible', beside('rates')),
    cells('client CPU ÷ rate-limiter-flexible', beside('clientCpu')),
    cells('Redis CPU ÷ rate-limiter-flexible', beside('redisCpu')),
    cells('thousand decisions/s', ({ rates }) => thousands(median(rates))),
    cells('Redis CPU, µs a decision', ({ redisCpu }) => short(median(redisCpu))),
    cells('client CPU, µs a decision', ({ clientCpu }) => short(median(clientCpu))),
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

/** In memory: CPU of decisions one after the other, also beside two peers, and bytes. */
export function memoryTables(measured, keys) {
  const kinds = Object.entries({
    one: 'one key',
    denied: 'denied',
    many: `${keys.toLocaleString('en')} keys`,
  });
  const peer = (id) => measured.find(({ contender }) => contender.id === id);
  const cells = (title, columns) =>
    table(
      title,
      columns.map(([name]) => name),
      measured.map((found) => [found.contender.name, ...columns.map(([, value]) => value(found))]),
    );
  const beside = (name, id) =>
    kinds.map(([kind, what]) => [`${what}, ÷ ${name}`, (found) => short(ratio(found[kind], peer(id)[kind]))]);
  return [
    cells('memory, one after the other: CPU a decision, ns', [
      ...kinds.map(([kind, what]) => [what, (found) => median(found[kind]).toFixed(0)]),
      ['bytes a key', ({ total }) => total.toFixed(0)],
      ['of them its string', ({ own }) => own.toFixed(0)],
      ['above it', ({ total, own }) => (total - own).toFixed(0)],
    ]),
    cells('memory: CPU a decision', [
      ...beside('RateLimiterMemory', PEER.memory),
      ...beside('LocalStore', PEER.sync),
    ]),
  ].join('\n\n');
}

/** The other load on the machine, and the distance between two equal contenders. */
export function noiseText(noise, columns) {
  const peers = columns.map(peerOf);
  const twice = columns.map((column) =>
    speedOf(
      column,
      column.find(({ contender }) => contender.id === AGAIN),
    ),
  );
  const slices = median(peers.map(({ rates }) => spread(rates)));
  return [
    loadText(noise),
    `slices of rate-limiter-flexible ± ${percent(slices)}`,
    `measured twice it is ${short(Math.min(...twice))} … ${short(Math.max(...twice))} of itself`,
  ].join('; ');
}
