import type { Output, Style } from '../output.js';
import { wrapped } from '../text.js';
import { count } from '../words.js';
import { type Finding, LEVELS, type Level } from './finding.js';

const STYLES: Readonly<Record<Level, Style>> = { error: 'red', warning: 'yellow', note: 'cyan', ok: 'green' };

/** Findings as text, the worst first: observation, server, reason and remedy. The last line counts them. */
export function render(findings: readonly Finding[], output: Pick<Output, 'width' | 'style'>): string[] {
  const blocks = [...LEVELS].reverse().flatMap((level) =>
    merged(findings.filter((finding) => finding.level === level)).flatMap((finding) => {
      const [first, ...rest] = linesOf(finding, output.width);
      return [output.style(STYLES[level], first!), ...rest];
    }),
  );
  return [...blocks, ...wrapped(summaryOf(findings), output.width)];
}

/** One finding of several servers. */
type Merged = Finding & { readonly nodes: readonly string[] };

function merged(findings: readonly Finding[]): Merged[] {
  const groups = new Map<string, Merged>();
  for (const finding of findings) {
    const { id, what, fix, node } = finding;
    const key = JSON.stringify([id, what, fix]);
    const nodes = [...(groups.get(key)?.nodes ?? []), ...(node === undefined ? [] : [node])];
    groups.set(key, { ...finding, nodes });
  }
  return [...groups.values()];
}

function linesOf({ level, id, what, why, fix, nodes }: Merged, width: number): string[] {
  const at = nodes.length === 0 ? '' : ` (${nodes.join(', ')})`;
  if (level === 'ok') return wrapped(`ok ${id}: ${what}${at}`, width, '   ', '');
  const body = [`${what}${at}`, `Why: ${why}`, `Fix: ${fix}`];
  const indented = body.flatMap((text) => wrapped(text, width, '  '));
  return [`${level} ${id}`, ...indented, ''];
}

function summaryOf(findings: readonly Finding[]): string {
  const counted = (level: Level, one: string = level) =>
    count(findings.filter((finding) => finding.level === level).length, one);
  return `${counted('error')}, ${counted('warning')}, ${counted('note')}; ${counted('ok', 'check')} found nothing wrong`;
}
