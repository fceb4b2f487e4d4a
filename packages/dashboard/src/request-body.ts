import { isRecord } from '@sluice/core/internal';
import { Refusal } from './answers.js';

/** The most bytes: enough for a key of 10,000 characters that JSON writes as six bytes each. */
const MOST = 64_000;

/** The JSON object that a request sends. @throws Refusal */
export async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get('Content-Type') ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type)) throw new Refusal(415, 'Send application/json');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MOST) throw new Refusal(413, `Send at most ${MOST} bytes`);
    chunks.push(chunk);
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new Refusal(400, 'The body is not JSON');
  }
  if (!isRecord(value)) throw new Refusal(400, 'The body is not a JSON object');
  return value;
}
