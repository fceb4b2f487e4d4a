export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2733; --soft: #5b6b7c; --line: #d5dde5; --bar: #a9bccf; --red: #c8323c; --blue: #2563a8; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4eaf0; --soft: #9aa9b8; --line: #36424e; --bar: #4a5f75; --red: #f0717a; --blue: #74b0f0; --paper: #14191f; }
}
body { margin: 2rem auto; max-width: 56rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1, h2 { overflow-wrap: anywhere; } h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; } h3 { font-size: 1rem; }
p.soft, .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.key { overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: 13px; }
svg { display: block; width: 100%; height: auto; margin: 0.5rem 0 1rem; }
.axis { font: 11px system-ui, sans-serif; fill: var(--soft); } .line { stroke: var(--line); }
rect.requests { fill: var(--bar); } rect.denied { fill: var(--red); } rect.use { fill: var(--blue); }
@media (max-width: 600px) { .axis { font-size: 16px; } }
.share { fill: none; stroke: var(--red); stroke-width: 1.5; }
`;
