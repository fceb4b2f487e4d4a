import stream from 'node:stream';

/** The body of a call. */
export interface OwnBody {
  /** What to send. */
  readonly body: unknown;
  /** Has its stream failed, as when the client has left whose upload it is? Then the call fails, and its upstream has not caused it. */
  hasFailed(): boolean;
}

/** Some runtimes cannot say. */
const { isErrored = () => false } = stream;

/** Watches a body that may fail. Listens to a stream of Node before its client does, because a client destroys it after a lost connection, too. */
export function ownBody(body: unknown): OwnBody {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body))
    return { body, hasFailed: () => false };
  if (body instanceof ReadableStream)
    return { body, hasFailed: () => isErrored(body as unknown as NodeJS.ReadableStream) };
  let failed = false;
  const hasFailed = () => failed;
  if (body instanceof stream.Readable) {
    failed = body.errored !== null;
    body.once('error', () => {
      failed = true;
    });
    return { body, hasFailed };
  }
  const source = body as AsyncIterable<unknown>;
  async function* watched(): AsyncGenerator<unknown> {
    try {
      yield* source;
    } catch (error) {
      failed = true;
      throw error;
    }
  }
  return { body: watched(), hasFailed };
}
