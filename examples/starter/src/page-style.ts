/** The style of the page, in light and dark. */
export const style = `
:root {
  --paper: #f6f8fa; --card: #fff; --ink: #14212b; --quiet: #56646f; --line: #d5dde3;
  --accent: #0a6c8e; --on-accent: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #10171d; --card: #182129; --ink: #e6edf2; --quiet: #9fb0bc; --line: #2d3a45;
    --accent: #5cc0e2; --on-accent: #07222d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header, main { max-width: 110rem; margin: 0 auto; padding: 1.25rem; }
header { padding-bottom: 0; }
h1 { margin: 0; font-size: 1.75rem; }
h2 { margin: 0 0 .75rem; font-size: 1.15rem; }
.by, .state { color: var(--quiet); font-size: .9rem; font-weight: 400; }
a { color: var(--accent); }
header p { margin: .25rem 0; }
iframe { display: block; flex: 1; width: 100%; border: 1px solid var(--line); border-radius: .6rem; }
/* The limits stay in sight while the buttons scroll: in a strip at the bottom, or beside them. */
.live { position: sticky; bottom: 0; display: flex; flex-direction: column; height: 42vh; margin: 1.5rem -1.25rem 0; padding: .5rem; background: var(--paper); border-top: 1px solid var(--line); }
.live h2 { margin: 0 0 .25rem; font-size: .9rem; }
@media (min-width: 60rem) {
  body { display: grid; gap: 0 1.5rem; grid-template: auto 1fr / minmax(0, 9fr) minmax(0, 10fr); max-width: 110rem; margin: 0 auto; padding: 0 1.25rem; }
  header, main > section { margin: 0; padding: 1.25rem 0; }
  header { padding-bottom: 0; }
  main { display: contents; }
  main > .live { top: 0; grid-area: 1 / 2 / span 2; height: 100vh; margin: 0; padding: 1rem 0; border: 0; }
  .live h2 { font-size: 1.15rem; }
}
.all { display: flex; align-items: baseline; gap: 1rem; }
code, pre, input { font: .9rem/1.4 ui-monospace, Menlo, Consolas, monospace; }
.cards { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); align-items: start; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem; }
.card h3 { margin: 0; font-size: 1rem; }
.card p { margin: .35rem 0; }
.method { font-size: .75rem; font-weight: 600; color: var(--accent); letter-spacing: .04em; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
input { flex: 1 1 5rem; min-width: 0; max-width: 8.5rem; padding: .35rem .5rem; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: .35rem; }
label { color: var(--quiet); font-size: .85rem; }
button { font: inherit; font-size: .9rem; padding: .35rem .6rem; white-space: nowrap; border: 1px solid var(--accent); border-radius: .35rem; color: var(--on-accent); background: var(--accent); cursor: pointer; }
button + button, .copy { color: var(--accent); background: transparent; }
button:active { transform: translateY(1px); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
output { flex-basis: 100%; min-height: 1.5rem; font-size: .9rem; color: var(--quiet); }
summary { cursor: pointer; color: var(--quiet); font-size: .85rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; padding: .6rem; background: var(--paper); border-radius: .35rem; }
`;
