/** The script of the page: sends requests, and shows the decisions for all clients as the server reports them. */
export const script = `
'use strict';
const SHOWN = 100;
const find = (id) => document.getElementById(id);
const counts = { allowed: 0, denied: 0 };
let last = 0;
let process;

const events = new EventSource('/decisions');
events.onopen = () => connected(true, 'Live.');
events.onerror = () => connected(false, 'The server is away: trying again.');
events.addEventListener('store', ({ data }) => { find('store').textContent = JSON.parse(data); });
events.addEventListener('process', ({ data }) => {
  if (data !== process) last = 0; // the server has restarted and counts from 1
  process = data;
});
events.addEventListener('decision', ({ data }) => show(JSON.parse(data)));

function connected(on, text) {
  find('live').classList.toggle('on', on);
  find('connection').textContent = text;
}

function show({ id, at, method, url, status, retryAfter }) {
  if (id <= last) return; // a new connection repeats the recent decisions
  last = id;
  const kind = status === 429 ? 'denied' : status < 400 ? 'allowed' : 'failed';
  const answer = kind === 'allowed' ? status + ' allowed'
    : kind === 'denied' ? status + ' denied' + (retryAfter === undefined ? '' : ', again in ' + retryAfter + ' s')
    : status + ' error';
  const row = find('decisions').insertRow(0);
  const time = element('time', new Date(at).toLocaleTimeString());
  time.dateTime = new Date(at).toISOString();
  row.insertCell().append(time);
  row.insertCell().append(element('code', method + ' ' + url));
  const badge = element('span', answer);
  badge.className = 'answer ' + kind;
  row.insertCell().append(badge);
  if (find('decisions').rows.length > SHOWN) find('decisions').deleteRow(SHOWN);
  find('none').hidden = true;
  if (kind in counts) find(kind).textContent = counts[kind] += 1;
  find('latest').textContent = method + ' ' + url + ': ' + answer;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

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
  countDown(card.querySelector('output'), statuses.join(', '), retryAfter ? Number(retryAfter) : 0);
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
for (const button of document.querySelectorAll('.copy')) {
  button.onclick = async () => {
    const code = button.closest('details').querySelector('code');
    const done = await navigator.clipboard.writeText(code.textContent).then(() => true, () => false);
    if (!done) getSelection().selectAllChildren(code);
    button.textContent = done ? 'Copied' : 'Selected: press Ctrl+C';
  };
}
`;
