import type { Denial, ShownKey } from '../../src/messages.ts';
import type { Reports } from '../../src/reports.ts';
import { keyOf } from './use-live.ts';
import { clockTime, number } from './words.ts';

interface Props {
  readonly denials: readonly Denial[];
  readonly reports: Reports;
  readonly onChoose: (limiter: string, key: string) => void;
}

/** Keys that any process denies, the latest first. */
export function Denials({ denials, reports: { omitted, problem }, onChoose }: Props) {
  const [latest] = denials;
  return (
    <section aria-labelledby="denials-heading">
      <h2 id="denials-heading">
        Denied just now <small>by all processes</small>
      </h2>
      {denials.length === 0 ? (
        <p class="none">None since this page is open.</p>
      ) : (
        <section class="scroll" tabindex={0} aria-labelledby="denials-heading">
          <table>
            <thead>
              <tr>
                <th scope="col">Last</th>
                <th scope="col">Limit</th>
                <th scope="col">Key</th>
                <th scope="col">Calls</th>
                <th scope="col">Passes</th>
              </tr>
            </thead>
            <tbody id="denials">
              {denials.map((denial) => (
                <tr key={keyOf(denial)}>
                  <td class="time">{clockTime(denial.at)}</td>
                  <td>
                    {denial.limiter}
                    {denial.policy !== denial.limiter && <small> {denial.policy}</small>}
                    {denial.shadow && <small> dry run</small>}
                    <small> {denial.process}</small>
                  </td>
                  <td class="wide">
                    <Key limiter={denial.owner} shown={denial.key} onChoose={onChoose} />
                  </td>
                  <td class="time">{number(denial.count)}</td>
                  <td class="time">
                    {denial.retryAfter === null ? 'never' : clockTime(denial.at + denial.retryAfter)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {omitted > 0 && (
        <p class="none">And {number(omitted)} more denied calls, of keys that are not listed.</p>
      )}
      {problem !== null && <p role="alert">The processes cannot be followed: {problem}</p>}
      <p class="hidden" aria-live="polite">
        {latest !== undefined && `${latest.limiter} denied a call.`}
      </p>
    </section>
  );
}

/** A key that is drawn when it is pressed. */
export function Key({
  limiter,
  shown: { text, known },
  onChoose,
}: {
  readonly limiter: string;
  readonly shown: ShownKey;
  readonly onChoose: (limiter: string, key: string) => void;
}) {
  if (!known) return <bdi title="Only a digest is known. Type the key to see it.">{text}</bdi>;
  return (
    <button type="button" class="key" title="Show this key" onClick={() => onChoose(limiter, text)}>
      <bdi>{text}</bdi>
    </button>
  );
}
