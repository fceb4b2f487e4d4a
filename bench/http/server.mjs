// A server with one limiter or none; forked by servers.mjs.
//   node server.mjs '{"framework":"express","limiter":"sluice","store":"redis","limit":10,"redis":"redis://…","name":"…"}'
// Sends { port } when it listens on 127.0.0.1. Answers the message 'cpu' with { cpu }, in µs. 'profile' begins a CPU profile and is answered at
// once; 'profiled' ends it and is answered with { profile }. Ends with its parent.
import { Session } from 'node:inspector/promises';
import { apps } from './apps.mjs';

/** µs */
const SAMPLING = 200;

const profiler = new Session();
const answers = {
  cpu() {
    const { user, system } = process.cpuUsage();
    return { cpu: user + system };
  },
  async profile() {
    profiler.connect();
    await profiler.post('Profiler.enable');
    await profiler.post('Profiler.setSamplingInterval', { interval: SAMPLING });
    await profiler.post('Profiler.start');
    return {};
  },
  profiled: () => profiler.post('Profiler.stop'),
};

const variant = JSON.parse(process.argv[2]);
const port = await apps[variant.framework](variant);
process.on('message', async (question) => process.send(await answers[question]()));
process.on('disconnect', () => process.exit());
process.send({ port });
