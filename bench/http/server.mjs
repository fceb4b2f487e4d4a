// A server with one limiter or none; forked by servers.mjs.
//   node server.mjs '{"framework":"express","limiter":"sluice","store":"redis","limit":10,"redis":"redis://…","name":"…"}'
// Sends { port } when it listens on 127.0.0.1, and { cpu }, in µs, for each message it gets. Ends with its parent.
import { apps } from './apps.mjs';

const variant = JSON.parse(process.argv[2]);
const port = await apps[variant.framework](variant);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpu: user + system });
});
process.on('disconnect', () => process.exit());
process.send({ port });
