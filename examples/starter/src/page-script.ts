/** The script of the page: sends requests, and shows their answers. */
export const script = `
'use strict';
const waits = new Map();

async function send(card, times) {
  const input = card.querySelector('input');
  const query = input ? '?' + new URLSearchParams({ [input.name]: input.value }) : '';
  const statuses = [];
  let retryAfter;
  try {
    for (let i = 0; i < times; i += 1) {
      const response = await fetch(card.dataset.path + query, { method: card.dataset.method, cache: 'no-store' });
      statuses.push(response.status);
      retryAfter = response.headers.get('Retry-After');
    }
  } catch {
    statuses.push('no answer');
  }
  countDown(card.querySelector('output'), inWords(statuses), retryAfter ? Number(retryAfter) : 0);
}

// 200, 200, 429; of many: 2 × 200, 18 × 429.
function inWords(statuses) {
  if (statuses.length <= 6) return statuses.join(', ');
  const counts = new Map();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].sort().map(([status, count]) => count + ' × ' + status).join(', ');
}

function countDown(output, said, seconds) {
  clearTimeout(waits.get(output));
  output.textContent = said + (seconds > 0 ? '; passes again in ' + seconds + ' s' : '');
  if (seconds > 0) {
    waits.set(output, setTimeout(() => {
      if (seconds > 1) countDown(output, said, seconds - 1);
      else output.textContent = said + '; passes again now';
    }, 1000));
  }
}

for (const button of document.querySelectorAll('.controls button')) {
  button.onclick = () => send(button.closest('.card'), Number(button.dataset.times));
}
document.getElementById('flood').onclick = ({ target }) => {
  for (const card of document.querySelectorAll('.card')) send(card, Number(target.dataset.times));
};
for (const button of document.querySelectorAll('.copy')) {
  button.onclick = async () => {
    const code = button.closest('details').querySelector('code');
    const done = await navigator.clipboard.writeText(code.textContent).then(() => true, () => false);
    if (!done) getSelection().selectAllChildren(code);
    button.textContent = done ? 'Copied' : 'Selected: press Ctrl+C';
  };
}
`;
