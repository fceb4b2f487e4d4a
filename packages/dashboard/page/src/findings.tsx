import type { Finding } from '../../src/messages.ts';
import { commandsIn } from './commands.ts';

const LEVELS = ['error', 'warning', 'note'];
const byLevel = (a: Finding, b: Finding) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level);

/** What makes limits fail, the worst first. */
export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <section aria-labelledby="findings-heading">
      <h2 id="findings-heading">What doctor found</h2>
      {findings.length === 0 && <p class="none">Nothing.</p>}
      <ul class="findings">
        {[...findings].sort(byLevel).map(({ level, what, why, fix, node }) => (
          <li key={`${node} ${what}`}>
            <p>
              <strong class={level === 'note' ? '' : 'denied'}>{level}</strong> {what}
              {node !== undefined && ` (${node})`}
            </p>
            {why !== '' && <p class="none">{why}</p>}
            {fix !== '' && (
              <p class="fix">
                {commandsIn(fix).map(({ text, isCommand }) =>
                  isCommand ? <code key={text}>{text}</code> : text,
                )}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
