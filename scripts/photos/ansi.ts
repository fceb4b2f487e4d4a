/** A sequence that draws a view from the first line on, as `watch` does: only the last view is seen. */
const CLEAR = '\u001b[H\u001b[J';
/** Any sequence: `ESC [ … letter`. */
const SEQUENCE = new RegExp(`${'\u001b'}\\[([\\d;?]*)([A-Za-z])`, 'g');

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

const STYLE = `
:root { color-scheme: light dark; --bg: #fff; --fg: #1f2328; --dim: #59636e;
  --black: #1f2328; --red: #c21c26; --green: #12702f; --yellow: #7a5200; --blue: #0550ae; --magenta: #7435c2; --cyan: #0b6b75; --white: #59636e }
@media (prefers-color-scheme: dark) { :root { --bg: #0d1117; --fg: #e6edf3; --dim: #9198a1;
  --black: #9198a1; --red: #ff8f87; --green: #56d364; --yellow: #e3b341; --blue: #79c0ff; --magenta: #d2a8ff; --cyan: #56d4dd; --white: #e6edf3 } }
body { margin: 0; padding: 12px 8px; background: var(--bg); color: var(--fg) }
pre { margin: 0; font: 14px/1.4 'DejaVu Sans Mono', monospace; white-space: pre-wrap; overflow-wrap: anywhere }
.bold { font-weight: bold } .dim { color: var(--dim) } .underline { text-decoration: underline } .inverse { background: var(--fg); color: var(--bg) }
`;

/** What a terminal shows of a program's output, as a page of its own. */
export function htmlOf(output: string, prompt: string): string {
  const seen = output
    .split(CLEAR)
    .at(-1)!
    .replaceAll('\r\n', '\n')
    .replace(/^[^\n]*\r(?!\n)/gm, '');
  return `<!doctype html><meta name="viewport" content="width=device-width"><title>Terminal</title><style>${STYLE}</style><pre>${escaped(prompt)}\n${coloured(seen)}</pre>`;
}

function coloured(text: string): string {
  let html = '';
  let from = 0;
  const styles = new Set<string>();
  const add = (part: string) => {
    if (part === '') return;
    const colour = NAMES.find((name) => styles.has(name));
    const names = [...styles].filter((name) => name !== colour).join(' ');
    const own = `${names === '' ? '' : ` class="${names}"`}${colour ? ` style="color: var(--${colour})"` : ''}`;
    html += own === '' ? escaped(part) : `<span${own}>${escaped(part)}</span>`;
  };
  for (const { 0: sequence, 1: codes, 2: kind, index } of text.matchAll(SEQUENCE)) {
    add(text.slice(from, index));
    from = index + sequence.length;
    if (kind === 'm') for (const code of codes!.split(';')) change(styles, Number(code));
  }
  add(text.slice(from));
  return html;
}

function change(styles: Set<string>, code: number): void {
  const flags: Readonly<Record<number, string>> = { 1: 'bold', 2: 'dim', 4: 'underline', 7: 'inverse' };
  const colour = NAMES[code % 10];
  if (code === 0) styles.clear();
  else if (flags[code] !== undefined) styles.add(flags[code]);
  else if (code === 22) for (const name of ['bold', 'dim']) styles.delete(name);
  else if (code === 24 || code === 27) styles.delete(code === 24 ? 'underline' : 'inverse');
  else if (code === 39) for (const name of NAMES) styles.delete(name);
  else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
    for (const name of NAMES) styles.delete(name);
    styles.add(colour!);
  }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
