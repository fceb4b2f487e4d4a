import { sharedByCopies } from './maps.js';

const publicNames = sharedByCopies('public-names', () => new Map<string, string>());

/**
 * Shows clients another name than the limiter's own, which names classes and methods of the program. Channels, logs and tools keep the
 * limiter's own name.
 * @param shown makes the public name, once for each limiter
 */
export function hideName(limiter: string, shown: (limiter: string) => string): void {
  if (!publicNames.has(limiter)) publicNames.set(limiter, shown(limiter));
}

/** The name of a limiter in headers, problems and the messages of errors that clients may see. */
export const publicName = (limiter: string): string => publicNames.get(limiter) ?? limiter;
