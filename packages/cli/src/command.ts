import type { Readable } from 'node:stream';
import type { ExitCode } from './cli-error.js';
import type { Connection, NamedStore } from './connection.js';
import type { Notes } from './notes.js';
import type { Output } from './output.js';

/** The environment of a command. */
export interface Context extends Connection {
  readonly output: Output;
  readonly notes: Notes;
  /** For prompts. */
  readonly stderr: NodeJS.WritableStream;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  /**
   * The options that said where the store is, for other command lines: empty, or `--store sqlite:limits.db ` with a space behind. Undefined: they
   * are too long, or have a password.
   */
  readonly storeFlags: string | undefined;
  /** Rejects after the deadline, also if the server is frozen. */
  ask<T>(answer: Promise<T>): Promise<T>;
  /**
   * A second store, which the command connects and closes.
   * @param address as `--store` takes it; undefined: the store of all commands
   * @param creates may it make its file or table?
   */
  openOther(address: string | undefined, creates: boolean): Promise<Connection>;
}

export interface CommandOption {
  /** The syntax for commander: `--cost <n>`. */
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
}

/** One command of `sluice`. A new one is a file beside the others and a line in `commands/index.ts`. */
export interface CommandDefinition {
  readonly name: string;
  /** The syntax for commander: `<key>`, `[limiter]`. */
  readonly arguments: readonly (readonly [name: string, description: string])[];
  readonly options: readonly CommandOption[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** Its effect and its exit codes, in whole sentences. */
  readonly description: string;
  /** A command line without `sluice`, and its output. */
  readonly example: readonly [command: string, meaning: string];
  /** Does it change data in Redis? */
  readonly writes: boolean;
  /** Does it work without Redis? */
  readonly offline?: boolean;
  /** The store that it works with, if an option of its own names it. */
  storeOf?(options: Readonly<Record<string, string | boolean | undefined>>): NamedStore;
  run(
    context: Context,
    args: readonly string[],
    options: Readonly<Record<string, string | boolean | undefined>>,
  ): Promise<ExitCode>;
}
