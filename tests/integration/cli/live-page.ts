import { once } from 'node:events';
import { start } from './sluice.js';

/** The page of `sluice dashboard`, as a browser gets it. */
export interface LivePage {
  readonly origin: string;
  /** The address of the page, with a slash at the end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Reads a stream until it has contained all texts. @returns the text so far */
  until(path: string, texts: readonly string[], body?: unknown): Promise<string>;
  /** @returns the status, and the text of the answer */
  change(body: object): Promise<[status: number, text: string]>;
  /** Ctrl-C. @returns the exit code */
  stop(): Promise<number | null>;
}

export async function openLivePage(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<LivePage & { readonly address: string }> {
  const child = await start(['dashboard', ...args], env);
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += chunk;
    if (/token=\S+\n/.test(said)) break;
  }
  const [address] = /http:\S+/.exec(said) ?? [];
  if (address === undefined) throw new Error(`sluice dashboard: ${said}`);
  const { origin, pathname } = new URL(address);
  const url = origin + pathname;
  const opened = await fetch(address, { redirect: 'manual' });
  const headers = { Cookie: opened.headers.get('Set-Cookie')!.split(';')[0]! };
  const post = (body: unknown) => ({
    method: 'POST',
    headers: { ...headers, Origin: origin, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    address,
    origin,
    url,
    headers,
    async until(path, texts, body) {
      const controller = new AbortController();
      const init = body === undefined ? { headers } : post(body);
      const { body: stream } = await fetch(url + path, { ...init, signal: controller.signal });
      let seen = '';
      for await (const chunk of stream!.pipeThrough(new TextDecoderStream())) {
        seen += chunk;
        if (texts.every((text) => seen.includes(text))) break;
      }
      controller.abort();
      return seen;
    },
    async change(body) {
      const response = await fetch(`${url}change`, post({ confirmed: true, ...body }));
      return [response.status, await response.text()];
    },
    async stop() {
      child.kill('SIGINT');
      return (await once(child, 'exit'))[0] as number | null;
    },
  };
}
