import { isKeyResolutionError, KeyResolutionError } from '@sluice/core';
import {
  compileClientKey,
  compileRequestKey,
  describe,
  keyOfRequest,
  REQUEST_FIELDS,
  type RequestView,
} from '@sluice/core/http';
import { nearest, type Path, type Report } from '../document/problems.js';

/** Reads a value of a request. @throws KeyResolutionError without one */
export type ReadRequest<T> = (request: RequestView) => T;

const LIMIT_TYPES = ['IP', 'USER', 'METHOD'];

/** `IP`, `USER`, `METHOD` or a template. */
export function compileKey(
  key: string,
  ipv6Subnet: number | undefined,
  path: Path,
  report: Report,
): ReadRequest<string> {
  const subnet = ipv6Subnet === undefined ? {} : { ipv6Subnet };
  const options = LIMIT_TYPES.includes(key) ? { limitType: key as 'IP', ...subnet } : { key, ...subnet };
  return tried([...path, 'key'], report, () => {
    const keyOf = keyOfRequest<[]>('key', options);
    // Without functions in its options it returns no promise.
    return (request) => keyOf(request, []) as string;
  });
}

/** A fixed word, or a template. */
export const hasTemplate = (text: string): boolean => /#[{<]/.test(text);

/** @returns the text, or undefined if the request does not have it */
export function compileText(template: string, path: Path, report: Report): ReadRequest<string | undefined> {
  const read = tried(path, report, () => compileRequestKey(template, compileClientKey({})));
  return (request) => {
    try {
      return read(request);
    } catch (error) {
      if (isKeyResolutionError(error)) return undefined;
      throw error;
    }
  };
}

/** A whole number, or a template that finds one: 1 if the request has none. */
export function compileCost(
  cost: number | string | undefined,
  path: Path,
  report: Report,
): ReadRequest<number> {
  if (cost === undefined) return () => 1;
  const at = [...path, 'cost'];
  if (typeof cost === 'number') {
    if (!Number.isSafeInteger(cost) || cost < 0) {
      report.add(
        at,
        `cost must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, not ${describe(cost)}`,
      );
    }
    return () => cost;
  }
  const read = compileText(cost, at, report);
  return (request) => {
    const text = read(request);
    if (text === undefined) return 1;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new KeyResolutionError(`The cost ${cost} of the request must be a whole number`, cost);
  };
}

/** Reports what `compile` throws for a wrong template. */
function tried<T>(path: Path, report: Report, compile: () => ReadRequest<T>): ReadRequest<T> {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    const unknown = /uses '(.+?)', which requests/.exec(error.message)?.[1];
    report.add(path, error.message, { hint: unknown && nearest(unknown, REQUEST_FIELDS) });
    return () => {
      throw error;
    };
  }
}
