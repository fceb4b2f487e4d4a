import { PassThrough } from 'node:stream';
import { confirmed } from './change.js';
import type { Context } from './command.js';

/** A prompt. @param isTTY is stderr a terminal, too? Then readline reads single keys. */
function promptOn(isTTY: boolean) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const interrupt = new AbortController();
  const context = { stdin, stderr, signal: interrupt.signal } as unknown as Context;
  return { stdin, interrupt, answer: confirmed(context, "Reset 'k'?") };
}

describe('a prompt that is closed without an answer is a no', () => {
  test.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('by %s', async (_, key) => {
    const { stdin, answer } = promptOn(true);
    stdin.write(key);
    expect(await answer).toBe(false);
  });

  test('by the end of the input', async () => {
    const { stdin, answer } = promptOn(false);
    stdin.end();
    expect(await answer).toBe(false);
  });

  test('by a signal', async () => {
    const { interrupt, answer } = promptOn(false);
    interrupt.abort();
    expect(await answer).toBe(false);
  });
});
