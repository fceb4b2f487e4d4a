import { AsyncLocalStorage } from '#platform';
import type { RequestView } from './views.js';

// One for the whole process: a program may load this package twice, as ESM and as CJS, and adapters and decorators must
// share the context.
const slot = Symbol.for('sluice.request-context');
const shared = globalThis as { [slot]?: AsyncLocalStorage<RequestView> };
shared[slot] ??= new AsyncLocalStorage();
const context = shared[slot];

/** Runs `work`, with all that it calls or starts, with `request` as the current request. */
export const runWithRequest = <T>(request: RequestView, work: () => T): T => context.run(request, work);

/** The request that is being served; undefined without `requestContext` of an adapter. */
export const currentRequest = (): RequestView | undefined => context.getStore();
