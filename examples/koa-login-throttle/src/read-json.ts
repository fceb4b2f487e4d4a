import type { Middleware } from 'koa';

/** Puts the JSON body of a request, of at most `maxBytes`, where limits and routes look for it: `ctx.request.body`. */
export function readJson(maxBytes: number): Middleware {
  return async (context, next) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // The request is not destroyed when we stop to read: its connection is needed for the answer.
    for await (const chunk of context.req.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) context.throw(413, `No more than ${maxBytes} bytes`);
    }
    try {
      Object.assign(context.request, { body: JSON.parse(Buffer.concat(chunks).toString()) });
    } catch {
      context.throw(400, 'The body must be JSON');
    }
    await next();
  };
}
