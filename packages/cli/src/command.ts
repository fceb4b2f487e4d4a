import type { Readable } from 'node:stream';
import type { ExitCode } from './cli-error.js';
import type { Connection } from './connection.js';
import type { Notes } from './notes.js';
import type { Output } from './output.js';

/** What a command works with. */
export interface Context extends Connection {
  readonly output: Output;
  readonly notes: Notes;
  /** For questions. */
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  /** Rejects after the deadline: what a server that is frozen would never do. */
  ask<T>(answer: Promise<T>): Promise<T>;
}

export interface CommandOption {
  /** As commander reads it: `--cost <n>`. */
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
}

/** One command of `sluice`. A new one is a file beside the others and a line in `commands/index.ts`. */
export interface CommandDefinition {
  readonly name: string;
  /** As commander reads them: `<key>`, `[limiter]`. */
  readonly arguments: readonly (readonly [name: string, description: string])[];
  readonly options: readonly CommandOption[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** What it does and what its exit codes mean, in whole sentences. */
  readonly description: string;
  /** A command line without `sluice`, and what it answers. */
  readonly example: readonly [command: string, meaning: string];
  /** Does it change anything in Redis? */
  readonly writes: boolean;
  /** Does it need no Redis? */
  readonly offline?: boolean;
  run(
    context: Context,
    args: readonly string[],
    options: Readonly<Record<string, string | boolean | undefined>>,
  ): Promise<ExitCode>;
}
