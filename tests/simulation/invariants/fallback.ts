import { getOrCreate } from '../../../packages/core/src/maps.js';
import type { UserCall } from '../calls.js';
import type { InvariantOf } from './invariant.js';

/** docs/reliability.md, "Choose who decides": what a caller gets while the store is out. */
export const failurePoliciesAdmitTheirShare: InvariantOf = ({ calls, settings, broken }) => ({
  ended({ kind, settings: { failurePolicy, limit }, decision, member }) {
    if (decision === undefined || !decision.degraded) return;
    const wanted = typeof failurePolicy === 'string' ? failurePolicy : 'local';
    const { allowed, source } = decision;
    if (source !== wanted || (source === 'allow' && !allowed) || (source === 'deny' && allowed))
      broken(`${member.process.name}: ${kind} ${limit.name} was decided by ${source}, and not by ${wanted}`);
  },
  calm() {
    for (const { limit, failurePolicy } of settings) {
      if (failurePolicy === 'allow' || failurePolicy === 'deny') continue;
      const share = failurePolicy === 'local' ? 1 : failurePolicy.local.share;
      const own = new Map<string, UserCall[]>();
      for (const call of calls.all.filter(isLocal(limit.name)))
        getOrCreate(own, `${call.member.process.name} ${call.key}`, () => []).push(call);
      for (const [who, all] of own) {
        all.sort((a, b) => a.endedAt! - b.endedAt!);
        for (const { judge, limit: most } of Object.values(limit.rules)) {
          const wrong = judge?.(Math.max(1, Math.floor(most * share)))(all.map(admitted));
          if (wrong !== undefined)
            broken(`${who}: 'local' of ${limit.name}: ${wrong}`, `${limit.name} ${who.split(' ')[1]}`);
        }
      }
    }
  },
});

const isLocal =
  (name: string) =>
  ({ settings, kind, decision, returned }: UserCall): boolean =>
    settings.limit.name === name &&
    kind === 'consume' &&
    decision?.source === 'local' &&
    decision.allowed &&
    !returned;

const admitted = ({ endedAt, cost }: UserCall) => ({ moment: endedAt!, cost, whole: 0 });
