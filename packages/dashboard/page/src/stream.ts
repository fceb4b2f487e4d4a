/** What became of a stream. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;
/** ms that a stream must have lasted for the next pause to be short. */
const STABLE = 5_000;

/**
 * Reads server-sent events with `fetch`, which tells a refusal from a lost connection and sends a key in a body, not in an address. It
 * connects again after a loss, and pauses while the tab is hidden. Returns a function that ends it.
 */
export function openStream(
  path: string,
  init: RequestInit,
  onEvent: (name: string, data: unknown) => void,
  onConnection: (connection: Connection) => void,
): () => void {
  let ended = false;
  let current: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = SHORTEST_PAUSE;

  const run = async () => {
    const abort = new AbortController();
    current = abort;
    const began = Date.now();
    try {
      const response = await fetch(path, { ...init, signal: abort.signal, cache: 'no-store' });
      if (response.status === 401 || response.status === 421) return onConnection('refused');
      if (!response.ok || response.body === null) {
        const { error = response.statusText } = await response.json().catch(() => ({}));
        onEvent('problem', error);
        throw new Error(error);
      }
      onConnection('live');
      await readEvents(response.body, onEvent);
    } catch {
      // Lost: connected again below.
    }
    if (ended || abort !== current || document.hidden) return;
    onConnection('lost');
    if (Date.now() - began > STABLE) pause = SHORTEST_PAUSE;
    timer = setTimeout(run, pause);
    pause = Math.min(LONGEST_PAUSE, pause * 2);
  };
  const stop = () => {
    clearTimeout(timer);
    const last = current;
    current = undefined;
    last?.abort();
  };
  const onVisibility = () => {
    stop();
    if (!document.hidden) void run();
  };
  document.addEventListener('visibilitychange', onVisibility);
  if (!document.hidden) void run();
  return () => {
    ended = true;
    document.removeEventListener('visibilitychange', onVisibility);
    stop();
  };
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (name: string, data: unknown) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split('\n\n');
    text = parts.pop()!;
    for (const part of parts) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
      if (name !== undefined) onEvent(name, JSON.parse(data!));
    }
  }
}

/** POSTs JSON to the server of the page. @throws Error with the server's reason */
export async function post(path: string, body: unknown): Promise<{ readonly done: string }> {
  const response = await fetch(path, postOf(body));
  const answer = await response.json().catch(() => ({ error: response.statusText }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export const postOf = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
