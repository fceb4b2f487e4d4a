import type { Usage } from '../../src/messages.ts';
import { Key } from './denials.tsx';
import { number } from './words.ts';

interface Props {
  readonly usage: Usage;
  readonly onChoose: (limiter: string, key: string) => void;
}

/** The keys that all processes denied most. */
export function TopKeys({ usage, onChoose }: Props) {
  return (
    <section aria-labelledby="top-heading">
      <h2 id="top-heading">Denied most in 15 minutes</h2>
      {usage === null ? (
        <p class="none">
          Not counted: create the store with <code>usage: true</code>.
        </p>
      ) : usage.denied.length === 0 ? (
        <p class="none">No key was denied.</p>
      ) : (
        <section class="scroll" tabindex={0} aria-labelledby="top-heading">
          <table>
            <thead>
              <tr>
                <th scope="col">Limit</th>
                <th scope="col">Key</th>
                <th scope="col">Denied calls</th>
              </tr>
            </thead>
            <tbody id="top">
              {usage.denied.map(({ limiter, owner, key, count, error }) => (
                <tr key={`${limiter} ${key.text}`}>
                  <td>{limiter}</td>
                  <td>
                    <Key limiter={owner} shown={key} onChoose={onChoose} />
                  </td>
                  <td class="time">
                    {error > 0 ? `${number(count - error)} to ${number(count)}` : number(count)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
