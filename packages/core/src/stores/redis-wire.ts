import type { Answer, Call, Part, PartAnswer } from '../decisions/call.js';
import { RateNotSetError, StoreConfigurationError } from '../errors.js';
import { describe } from '../options.js';
import type { RateAnswer } from '../shared-rates/stored-rate.js';

/** Calls as `decide.lua` reads them; its header says in which order. `now` is this process's clock, for calendars. */
export function written(
  calls: readonly Call[],
  now: number,
  at?: number,
): { keys: string[]; args: string[] } {
  const keys: string[] = [];
  const args = [at === undefined ? '' : String(at)];
  for (const { operation, wait, parts } of calls) {
    args.push(operation, String(wait), String(parts.length));
    for (const part of parts) {
      const parameters = parametersOf(part, at ?? now);
      args.push(part.rule.algorithm.tag, String(part.cost), String(part.at), String(parameters.length));
      for (const parameter of parameters) args.push(String(parameter));
      if (operation === 'override') {
        const { override = [] } = part;
        args.push(String(override.length), ...override.map(String));
      }
      keys.push(part.key);
      if (part.shared !== undefined) keys.push(part.shared.client, part.shared.config);
    }
  }
  return { keys, args };
}

function parametersOf({ rule, shared }: Part, now: number): readonly number[] {
  if (shared !== undefined) return [];
  return rule.parametersAt?.(now) ?? rule.parameters;
}

/** @throws RateNotSetError for a single call whose shared rate is not set */
export function answers(calls: readonly Call[], numbers: readonly number[]): Answer[] {
  let next = 0;
  return calls.map(({ parts }) => {
    const verdict = numbers[next]!;
    if (verdict === -1) throw new RateNotSetError(parts[0]!.shared!.name);
    const [now, wait] = [numbers[next + 1]!, numbers[next + 2]!];
    next += 3;
    const told = parts.map((): PartAnswer => {
      const size = numbers[next + 4]!;
      const part = {
        remaining: numbers[next]!,
        wait: numbers[next + 1]!,
        reset: numbers[next + 2]!,
        at: numbers[next + 3]!,
        override: size > 0 ? numbers.slice(next + 5, next + 5 + size) : undefined,
      };
      next += 5 + size;
      return part;
    });
    return { allowed: verdict === 1, queued: verdict === 2, now, wait, parts: told };
  });
}

/** The reply of `shared-rate.lua`. */
export function rateAnswer([changed, keepAlive, perClient, ...parameters]: readonly number[]): RateAnswer {
  if (keepAlive === undefined) return { changed: changed === 1, rate: undefined };
  return { changed: changed === 1, rate: { keepAlive, perClient: perClient === 1 ? 1 : 0, parameters } };
}

/**
 * What a script answered, whatever a client has made of it.
 * @throws StoreConfigurationError when it is not a list of whole numbers
 */
export function integers(reply: unknown): readonly number[] {
  const list: readonly unknown[] = Array.isArray(reply) ? reply : [];
  const numbers = (list.every(isInteger) ? list : list.map(numberOf)) as readonly number[];
  if (numbers.length === 0 || !numbers.every(isInteger)) {
    throw new StoreConfigurationError(
      `redis store: the script answered ${describe(reply)} where integers were due`,
    );
  }
  return numbers.includes(MOST + 1) ? numbers.map((n) => Math.min(n, MOST)) : numbers;
}

/** Clients may be set to give numbers as text. */
const numberOf = (value: unknown): number =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : (value as number);

const MOST = Number.MAX_SAFE_INTEGER;
/** Parsers of clients round the largest that there is up. */
const isInteger = (n: unknown): boolean => Number.isInteger(n) && Math.abs(n as number) <= MOST + 1;
