import { once } from 'node:events';
import { subscribe } from '@sluice/core';
import { serveDashboard } from '@sluice/dashboard';
import type { LoadedRules } from '@sluice/rules';
import { durationOf } from '../arguments.js';
import { CliError } from '../cli-error.js';
import type { CommandDefinition, Context } from '../command.js';
import { portOf } from '../port.js';
import { count } from '../words.js';

type Options = Readonly<Record<string, string | boolean | undefined>>;

export const serve: CommandDefinition = {
  name: 'serve',
  arguments: [['[file]', 'a file of rules; without one, the rules that sluice push stored']],
  options: [
    { flags: '--rules <name>', description: 'the name of stored rules', default: 'rules' },
    { flags: '--host <address>', description: 'the address to listen on', default: '127.0.0.1' },
    { flags: '--port <n>', description: 'the port of the JSON API', default: '8080' },
    { flags: '--grpc-port <n>', description: "the port of Envoy's rate limit service", default: '8081' },
    {
      flags: '--limiter-deadline <duration>',
      description: 'the longest time of a decision in the store; default 100 ms, of a file 1 s',
    },
    { flags: '--dashboard', description: 'the live page, too, on 127.0.0.1' },
    { flags: '--otel', description: 'metrics for the OpenTelemetry SDK of this process' },
  ],
  summary: 'answer programs in any language: Envoy, JSON, nginx, Caddy',
  description:
    'Answers calls by rules, over gRPC as the rate limit service of Envoy and over HTTP, until Ctrl-C or SIGTERM. Changed rules apply at ' +
    'once. --store memory: counts in this process alone. Needs @sluice/serve beside this command. While the store is out, the ' +
    'failurePolicy of the rules decides.',
  example: ['serve limits.yaml', 'gRPC on 127.0.0.1:8081, HTTP on http://127.0.0.1:8080'],
  writes: true,
  offline: true,
  storeOf: () => ({ address: undefined, creates: true, serves: true }),
  async run(context, [file], options) {
    const { store, output, notes, signal } = context;
    const host = String(options.host);
    const port = portOf('--port', options.port);
    const grpcPort = portOf('--grpc-port', options.grpcPort);
    const { serve: start } = await installed('@sluice/serve', () => import('@sluice/serve'));
    const telemetry =
      options.otel === true
        ? (await installed('@sluice/otel', () => import('@sluice/otel'))).instrument()
        : undefined;
    const closers: (() => unknown)[] = [() => telemetry?.close()];
    try {
      const rules = await rulesOf(context, file, options);
      closers.push(() => rules.close());
      const unsubscribe = subscribe('sluice:rules', ({ version, error }) =>
        notes.say(
          error instanceof Error ? `the rules stay as they are: ${error.message}` : `new rules${of(version)}`,
        ),
      );
      closers.push(unsubscribe);
      const served = await start(rules, { host, port, grpcPort }).catch((error: Error) => {
        throw new CliError(
          error.message,
          'Is the address one of this machine, and its ports free? See --host, --port and --grpc-port.',
        );
      });
      closers.push(() => served.close());
      const page = options.dashboard === true ? await serveDashboard(store) : undefined;
      closers.push(() => page?.close());
      const shown = host.includes(':') ? `[${host}]` : host;
      output.json({ port: served.port, grpcPort: served.grpcPort, dashboard: page?.url });
      output.lines([
        `${count(rules.ruleSet.rules.length, 'rule')} of ${rules.source}${of(rules.version)}, until Ctrl-C:`,
        `gRPC on ${shown}:${served.grpcPort}`,
        `HTTP on http://${shown}:${served.port}`,
        ...(page === undefined ? [] : [`The live page, which opens once: ${page.url}`]),
      ]);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      for (const close of closers.reverse()) await close();
    }
    return 0;
  },
};

const of = (version: string | number | undefined): string =>
  version === undefined ? '' : `, version ${version}`;

async function rulesOf(
  { store }: Context,
  file: string | undefined,
  { rules: name, limiterDeadline }: Options,
): Promise<LoadedRules> {
  const { loadRules, storedRules } = await import('@sluice/rules'); // here, so that other commands do not wait for it
  return loadRules(file ?? storedRules(store, { name: String(name) }), {
    store,
    ...(limiterDeadline !== undefined && { deadline: durationOf('--limiter-deadline', limiterDeadline) }),
  });
}

/** A package that this command needs and others do not. @throws CliError without it */
async function installed<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    throw new CliError(
      `sluice serve needs the package ${name}, which is not installed.`,
      `Install it beside this command: npm install --global ${name}`,
    );
  }
}
