import { onAbort } from '@sluice/core/internal';
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
 * The text of a response that may say why. Undefined: its body was not read to the end, because it is longer than `most` bytes, no text,
 * broken or too slow. The response stays whole.
 * @throws the reason of the caller's signal
 */
export async function reasonOf(
  response: Response,
  most: number,
  signal: AbortSignal | undefined,
  limitReading: LimitReading,
): Promise<string | undefined> {
  const { body, headers } = response;
  if (body === null) return '';
  if (!isShortText(headers.get('content-type'), headers.get('content-length'), most)) return undefined;
  try {
    return await read(response.clone().body!.getReader(), most, limitReading);
  } catch (error) {
    if (signal?.aborted) throw error;
    return undefined; // the status and the headers still count
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
  limitReading: LimitReading,
): Promise<string | undefined> {
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
      if (done) return isOver ? undefined : text + decoder.decode();
      bytes += value.byteLength;
      if (bytes > most) stop();
      else text += decoder.decode(value, { stream: true });
    }
    return undefined;
  } finally {
    ended();
  }
}

/** Bodies that can be read no more, because nothing refers to them. */
const forgotten = new FinalizationRegistry<() => void>((end) => end());

/**
 * The same response, which calls `ended` once its body was read, has failed, or was cancelled or forgotten.
 * @param signal of the call: its abort fails the body, which shows only when the body is read
 */
export function onBodyEnd(
  response: Response,
  ended: () => Promise<void>,
  signal: AbortSignal | undefined,
): Response {
  const { body } = response;
  if (body === null) return response;
  const reader = body.getReader();
  let isOver = false;
  const over = async () => {
    if (isOver) return;
    isOver = true;
    ignore();
    forgotten.unregister(reader);
    await ended();
  };
  // A store that refuses now shows at the next call: the lease ends by itself.
  const overUnread = () => void over().catch(() => {});
  const ignore = onAbort(signal, overUnread);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
        } catch (error) {
          await over();
          throw error;
        }
        await over();
        controller.close();
      },
      async cancel(reason) {
        await over();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  // fetch frees the connection of a response that was forgotten, but not of one whose body has a reader.
  const forget = () => {
    overUnread();
    void reader.cancel().catch(() => {});
  };
  forgotten.register(stream, forget, reader);
  if (signal?.aborted) overUnread();
  return likeOriginal(responseOf(stream, response), response);
}

function responseOf(stream: ReadableStream, { status, statusText, headers }: Response): Response {
  try {
    return new Response(stream, { status, statusText, headers });
  } catch {
    return new Response(stream, { headers }); // services send statuses and reasons that only fetch accepts
  }
}

/** What only fetch can set: of a status and its text, those that are not in the standard. */
const SET_BY_FETCH = ['url', 'redirected', 'type', 'status', 'statusText', 'ok'] as const;

/** A copy that knows its address, also of a response that `onBodyEnd` made. */
export const copyOf = (response: Response): Response => likeOriginal(response.clone(), response);

/** The response to which a redirect has led, which fetch marks. Here fetch has followed none. */
export const afterRedirect = (response: Response): Response =>
  likeOriginal(response, {
    ...(Object.fromEntries(SET_BY_FETCH.map((name) => [name, response[name]])) as SetByFetch),
    redirected: true,
  });

type SetByFetch = Pick<Response, (typeof SET_BY_FETCH)[number]>;

function likeOriginal(made: Response, original: SetByFetch): Response {
  for (const name of SET_BY_FETCH)
    Object.defineProperty(made, name, { value: original[name], configurable: true });
  const clone = made.clone.bind(made);
  Object.defineProperty(made, 'clone', {
    value: () => likeOriginal(clone(), original),
    configurable: true,
  });
  return made;
}
