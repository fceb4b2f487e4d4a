import type { LimitReading } from '../calls/time.js';

/** Statuses whose body may say why the call was refused. */
const REFUSED: readonly number[] = [403, 429, 503, 529];

/** Can a body of fetch be sent again? A stream is gone once it was sent. */
export function isReplayable(body: unknown): boolean {
  if (body === null || body === undefined || typeof body === 'string') return true;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return true;
  return body instanceof URLSearchParams || body instanceof Blob || body instanceof FormData;
}

/** May the body of a response say why the call was refused? @param readsSuccess whether a success may be a refusal, too */
export const mayTell = (status: number, readsSuccess: boolean): boolean =>
  REFUSED.includes(status) || (readsSuccess && status === 200);

/** Is a body short text, by its headers? */
export const isShortText = (type: string | null, length: string | null, most: number): boolean =>
  Number(length ?? 0) <= most && (type === null || /\bjson\b|^text\//.test(type));

/**
 * The text of a response that may say why, up to `most` bytes; '' for any other, and for a body that breaks or takes too long. The response
 * stays whole.
 * @throws the reason of the caller's signal
 */
export async function reasonOf(
  response: Response,
  most: number,
  signal: AbortSignal | undefined,
  limitReading: LimitReading,
): Promise<string> {
  const { body, headers } = response;
  if (body === null) return '';
  if (!isShortText(headers.get('content-type'), headers.get('content-length'), most)) return '';
  try {
    return await read(response.clone().body!.getReader(), most, limitReading);
  } catch (error) {
    if (signal?.aborted) throw error;
    return ''; // the status and the headers still count
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
  limitReading: LimitReading,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let isOver = false;
  const stop = () => {
    isOver = true;
    void reader.cancel().catch(() => {}); // the response may fail later, where its caller reads it
  };
  const ended = limitReading(stop);
  try {
    for (let bytes = 0; !isOver; ) {
      const { done, value } = await reader.read();
      if (done) return isOver ? '' : text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > most) stop();
      else text += decoder.decode(value, { stream: true });
    }
    return '';
  } finally {
    ended();
  }
}

/** The same response, which calls `ended` once its body was read, has failed or was cancelled. */
export function onBodyEnd(response: Response, ended: () => Promise<void>): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          await ended();
          throw error;
        }
        await ended();
        controller.close();
      },
      async cancel(reason) {
        await ended();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return likeOriginal(new Response(stream, { status, statusText, headers }), response);
}

/** A copy that knows its address, also of a response that `onBodyEnd` made. */
export const copyOf = (response: Response): Response => likeOriginal(response.clone(), response);

/** With the properties that only fetch can set. */
function likeOriginal(made: Response, original: Response): Response {
  for (const name of ['url', 'redirected', 'type'] as const)
    Object.defineProperty(made, name, { value: original[name], configurable: true });
  return made;
}
