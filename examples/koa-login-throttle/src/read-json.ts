import type { Middleware } from 'koa';

/** Parses a JSON body of at most `maxBytes` into `ctx.request.body`. */
export function readJson(maxBytes: number): Middleware {
  return async (context, next) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // Stop reading without destroying the request: the response needs its connection.
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
