import { sharedByCopies } from '@sluice/core/internal';
import { AsyncLocalStorage } from '#platform';
import type { RequestView } from './views.js';

/** Adapters and decorators share it. */
const context = sharedByCopies('request-context', () => new AsyncLocalStorage<RequestView>());

/** Runs `work`, with all that it calls or starts, with `request` as the current request. */
export const runWithRequest = <T>(request: RequestView, work: () => T): T => context.run(request, work);

/** Makes `request` the current request of what runs now and of all that this starts: for frameworks whose hooks get no function to continue. */
export const enterRequest = (request: RequestView): void => context.enterWith(request);

/** The request that is being served; undefined without `requestContext` of an adapter. */
export const currentRequest = (): RequestView | undefined => context.getStore();
