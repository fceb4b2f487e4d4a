// What a decision costs the process of `serve`, over gRPC and over JSON: µs of its CPU. It counts in memory, so nearly all is the protocol.
//   node bench/serve.mjs            half a minute
//   node bench/serve.mjs --write    also writes the table into bench/README.md
//   node bench/serve.mjs --calls=2000 --runs=3
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { parseArgs } from 'node:util';
import { hardwareText } from './lib/machine.mjs';
import { loadText, watchMachine } from './lib/noise.mjs';
import { bundled, loaded } from './lib/sources.mjs';
import { table } from './lib/table.mjs';
import { writeSection } from './lib/write.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '7' },
    write: { type: 'boolean', default: false },
  },
});
const calls = Number(values.calls);
const runs = Number(values.runs);
const IN_FLIGHT = [1, 50];

const SERVER = `
import { memoryStore } from '@sluice/core';
import { Rules } from '@sluice/rules';
import { serve } from '@sluice/serve';
const limit = { tokenBucket: { capacity: 1e9, refill: 1e9, every: '1s' } };
const match = { host: 'bench', path: '/user' };
const rules = new Rules({ rules: [{ name: 'user', match, key: '#{query.user}', limit }] }, { store: memoryStore() });
const { port, grpcPort } = await serve(rules, { port: 0, grpcPort: 0 });
process.on('message', () => process.send(process.cpuUsage()));
process.send({ port, grpcPort });
`;

const { file, remove } = await bundled(SERVER);
const server = fork(file);
const [{ port, grpcPort }] = await once(server, 'message');
remove();
const { RlsClient, descriptor } = await loaded("export * from './tests/support/rls-client.ts';");
const client = new RlsClient(grpcPort);
const agent = new Agent({ keepAlive: true, maxSockets: Math.max(...IN_FLIGHT) });

const PROTOCOLS = {
  'gRPC: ShouldRateLimit': async (user) => {
    const { overall_code } = await client.shouldRateLimit('bench', [descriptor(['user', user])]);
    return overall_code === 'OK';
  },
  'JSON: /v1/request': (user) => post('/v1/request', { host: 'bench', path: '/user', query: { user } }),
  'JSON: /v1/consume': (user) => post('/v1/consume', { rule: 'user', key: user }),
};

const noise = watchMachine();
const rows = [];
for (const [name, decide] of Object.entries(PROTOCOLS)) {
  const cells = [];
  for (const inFlight of IN_FLIGHT) {
    await cpuOf(decide, inFlight);
    const costs = [];
    for (let run = 0; run < runs; run += 1) costs.push(await cpuOf(decide, inFlight));
    costs.sort((a, b) => a - b);
    cells.push(costs[runs >> 1].toFixed(0));
  }
  rows.push([name, ...cells]);
}
client.close();
agent.destroy();
server.kill();
const text = [
  `${hardwareText()}. Medians of ${runs} runs of ${calls} decisions, with 1 and 50 calls in flight.`,
  table(
    'CPU of the process of serve, µs a decision',
    IN_FLIGHT.map((count) => `${count} in flight`),
    rows,
  ),
  `${loadText(noise())}.`,
].join('\n\n');
console.log(text);
if (values.write) writeSection('serve', text);

/** µs of the server's CPU for each decision. */
async function cpuOf(decide, inFlight) {
  const before = await used();
  let next = 0;
  const worker = async () => {
    while (next < calls) {
      next += 1;
      if (!(await decide(`user-${next % 1_000}`))) throw new Error('a call was denied');
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return ((await used()) - before) / calls;
}

async function used() {
  server.send('cpu');
  const [{ user, system }] = await once(server, 'message');
  return user + system;
}

function post(path, value) {
  const body = JSON.stringify(value);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method: 'POST', agent, headers },
      async (response) => {
        let answer = '';
        for await (const chunk of response) answer += chunk;
        resolve(JSON.parse(answer).allowed);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
