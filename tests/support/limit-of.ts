import type { Rule } from '../../packages/core/src/algorithms/algorithm.js';
import type { Limit } from '../../packages/core/src/call/limit.js';

/** A limit whose parts name whole storage keys. */
export const limitOf = (rule: Rule): Limit => ({ rule, name: '', policy: '', prefix: '', suffix: '' });
