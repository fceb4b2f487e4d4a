import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('server.mjs', import.meta.url));

/**
 * One server, in its own process.
 * @param variant see `server.mjs`
 */
export async function startServer(variant) {
  const child = fork(program, [JSON.stringify(variant)], {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  /** The child's next message. Rejects if the child has ended. */
  const answer = async () => {
    const ended = new AbortController();
    const died = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
      throw new Error(`the server of ${JSON.stringify(variant)} ended with code ${code}`);
    });
    try {
      const [message] = await Promise.race([once(child, 'message', { signal: ended.signal }), died]);
      return message;
    } finally {
      ended.abort();
      died.catch(() => {}); // aborted
    }
  };
  const { port } = await answer();
  const ask = (question) => {
    child.send(question);
    return answer();
  };
  return {
    url: `http://127.0.0.1:${port}/`,
    /** µs of CPU, of all its threads, since it started. */
    async cpu() {
      const { cpu } = await ask('cpu');
      return cpu;
    },
    /** V8's CPU profile while `work` runs. */
    async profiled(work) {
      await ask('profile');
      await work();
      const { profile } = await ask('profiled');
      return profile;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
