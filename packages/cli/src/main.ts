import { CommanderError } from 'commander';
import { cliErrorOf, type ExitCode } from './cli-error.js';
import { writeText } from './notes.js';
import { programOf, withCommand } from './program.js';

/**
 * Runs the command `sluice`.
 * @param args the arguments after the program's name
 * @returns the exit code
 */
export async function main(args: readonly string[]): Promise<ExitCode> {
  const state: { code: ExitCode; address: string } = { code: 0, address: 'Redis' };
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  // `sluice ls | head -1` closes the pipe early. That ends what would go on until Ctrl-C. Everything else is done, and has its exit code.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupt();
  });
  // `sluice ls 2>&1 >/dev/null | head -1` closes the pipe of notes and errors. The command goes on without them.
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    const program = programOf(state, interrupted.signal);
    await program.parseAsync(withCommand(program, args), { from: 'user' });
    return state.code;
  } catch (error) {
    // Commander has printed its own error, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (interrupted.signal.aborted) return 2;
    const { message, remedy, exitCode } = cliErrorOf(error, state.address);
    const say = (text: string) => writeText(process.stderr, process.env, text);
    say(`sluice: ${message}`);
    if (remedy !== undefined) say(remedy);
    return exitCode;
  } finally {
    process.removeListener('SIGINT', interrupt);
    process.removeListener('SIGTERM', interrupt);
  }
}
