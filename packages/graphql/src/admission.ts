import type { Reservation } from '@sluice/core';
import { warnOnce } from '@sluice/core/internal';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import { costExtension } from './answers.js';

/** An operation of a validated document. The arguments of graphql's `execute` fit. */
export interface GraphqlOperation<Context> {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  /** As the client sent them. */
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
  readonly contextValue: Context;
}

/** A decided operation. */
export interface Admission {
  /** The answer, if the operation may not run. */
  readonly denied?: ExecutionResult;
  /** Corrects the cost by what the operation returned. @returns the result with `extensions.cost` */
  finish(result: ExecutionResult): ExecutionResult;
  /** Keeps the cost as requested, of a result that comes in parts. A permit of `concurrency` is released. */
  keep(): void;
  /** Gives the points back: the operation did not run. */
  cancel(): void;
}

/** @param actual the cost of what the operation returned */
export function admissionOf(reservation: Reservation, actual: (data: unknown) => number): Admission {
  const { decision } = reservation;
  const { name, cost } = decision;
  // Not awaited: the answer need not wait for the store.
  const correct = (corrected: Promise<void>) =>
    void corrected.catch((error: unknown) => {
      warnOnce(
        'SLUICE_REFUND_LOST',
        name,
        `Limit '${name}' could not correct the cost of an operation: ${error}`,
      );
    });
  /** An error hides what was done before it, so it gives nothing back. */
  const actualOf = ({ data, errors = [] }: ExecutionResult): number =>
    data == null ? cost : Math.max(actual(data), errors.length > 0 ? cost : 0);
  return {
    finish(result) {
      const used = actualOf(result);
      // Also if nothing is missing: a permit of `concurrency` is released.
      correct(reservation.settle(used));
      return { ...result, extensions: { ...result.extensions, cost: costExtension(decision, used) } };
    },
    keep: () => correct(reservation.settle(cost)),
    cancel: () => correct(reservation.cancel()),
  };
}
