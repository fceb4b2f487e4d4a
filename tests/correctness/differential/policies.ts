import { merged } from '../../support/conformance/all.js';

export { HOUR } from '../../support/conformance/random-parts.js';

/** Policies of every scale, from a permit a µs to one in days, of every kind. */
export const policies = merged(({ random }) => random);
