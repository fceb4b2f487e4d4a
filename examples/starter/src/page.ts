import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { script } from './page-script.js';
import { style } from './page-style.js';
import { curlLine, type DemoRoute, routes } from './routes.js';

/** Requests to each route when all are flooded: more than any limit lets pass. */
const FLOOD = 20;

/** Where the live page is. */
export const LIVE_PAGE = '/limits';

/** Serves the demo page: requests to try, beside the live page. It loads nothing from other hosts. */
export const page: RequestHandler = (request, response) => {
  response
    .type('html')
    .set('Content-Security-Policy', policy)
    .send(document(`${request.protocol}://${request.get('host') ?? '127.0.0.1'}`));
};

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy =
  `default-src 'none'; connect-src 'self'; frame-src 'self'; style-src ${hash(style)}; script-src ${hash(script)}; ` +
  "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** An inline icon (a drop), so that the browser does not request /favicon.ico. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%230a7ea4' d='M8 1c3 4 5 6 5 9a5 5 0 0 1-10 0c0-3 2-5 5-9z'/%3E%3C/svg%3E";

const document = (origin: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice demo</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<header>
<h1>Sluice demo</h1>
<p>Send requests until one is denied. A denial says in <code>Retry-After</code> when the next request passes.</p>
<p class="state"><a href="${LIVE_PAGE.slice(1)}/">The live page</a> alone</p>
</header>
<main>
<section aria-labelledby="try">
<div class="all">
<h2 id="try">What to try</h2>
<button type="button" id="flood" data-times="${FLOOD}" title="Send ${FLOOD} requests to each route">Flood</button>
</div>
<ul class="cards">
${routes.map((route, index) => card(origin, route, index)).join('\n')}
</ul>
</section>
<section class="live" aria-labelledby="live">
<h2 id="live">The limits, live</h2>
<iframe src="${LIVE_PAGE.slice(1)}/" title="The limits, live"></iframe>
</section>
</main>
<script>${script}</script>
</body>
</html>
`;

function card(origin: string, route: DemoRoute, index: number): string {
  const { method, path, key, limit, by, burst } = route;
  const id = `key-${index}`;
  const field =
    key === undefined
      ? ''
      : `<label for="${id}">${key.name}</label> <input id="${id}" name="${key.name}" value="${key.value}" autocomplete="off" spellcheck="false">`;
  return `<li class="card" data-method="${method}" data-path="${path}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
<p><strong>${limit}</strong> <span class="by">${escapeHtml(by)}</span></p>
<p class="controls">${field}
<button type="button" data-times="1">Send 1</button>
<button type="button" data-times="${burst}">Send ${burst}</button>
<output for="${id}"></output></p>
<details><summary>In a terminal</summary><pre tabindex="0"><code>${escapeHtml(curlLine(origin, route))}</code></pre>
<button type="button" class="copy">Copy</button></details>
</li>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
