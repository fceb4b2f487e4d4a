import { isRecord } from '@sluice/core/internal';
import { isBudgetExceededError } from '../errors.js';
import { type BudgetStop, stopOf } from './reader.js';

/**
 * Why a budget has ended a stream, or denied a call: reads the last chunk or event of a stream, the `providerMetadata` of the AI SDK, or an error of
 * the client.
 * @returns undefined if no budget has ended it
 */
export function stoppedBy(value: unknown): BudgetStop | undefined {
  if (isBudgetExceededError(value)) return stopOf(value);
  if (!isRecord(value)) return undefined;
  const { sluice, error } = value;
  if (isRecord(sluice) && sluice.stopped === 'budget') return sluice as unknown as BudgetStop;
  return stoppedBy(error);
}
