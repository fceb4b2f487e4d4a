import type { Simulation } from '@sluice/rules/simulate';
import type { Output } from '../output.js';
import { count } from '../words.js';
import { differenceRows, hitRows, limitRows, notesOf, shareText, smallestRows } from './tables.js';

/** Writes a simulation for people. @param target of `--target` */
export function render(simulation: Simulation, output: Output, target: number | undefined): void {
  const { log, rules, against, newlyDenied, newlyAllowed } = simulation;
  const section = (title: string, [heads, rows]: readonly [string[], string[][]]) => {
    if (rows.length === 0) return;
    output.line();
    output.line(output.style('bold', title));
    output.table(heads, rows);
  };
  const files = log.files.map(({ name, format }) => `${name}${format === '' ? '' : ` (${format})`}`);
  output.say(
    log.from === undefined
      ? `${files.join(', ')}: no requests.`
      : `${files.join(', ')}: ${count(log.requests, 'request')} from ${momentOf(log.from)} to ${momentOf(log.to!)}.`,
  );
  output.say(
    `${rules.name} denies ${rules.denied} of them (${shareText(rules.denied, rules.requests)}), and does not limit ` +
      `${rules.unlimited}.`,
  );
  if (rules.rules.length > 0) {
    output.line();
    output.table(...limitRows(rules));
  }
  section('Denied most', hitRows(rules.rules));
  if (against !== undefined) {
    output.line();
    output.say(
      `${against.name} denies ${against.denied} (${shareText(against.denied, against.requests)}): ` +
        `${newlyDenied!.requests} would be newly denied, and ${newlyAllowed!.requests} newly allowed.`,
    );
    section('Newly denied', differenceRows(newlyDenied!));
    section('Newly allowed', differenceRows(newlyAllowed!));
  }
  if (target !== undefined) section('The smallest limits, each by itself', smallestRows(rules, target));
  const notes = notesOf(simulation);
  if (notes.length > 0) output.line();
  for (const note of notes) output.say(output.style('dim', note));
}

/** A moment in UTC, because many logs are from other time zones: `2026-11-22 12:00:05Z`. */
const momentOf = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
