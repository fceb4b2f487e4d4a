import { useRef, useState } from 'preact/hooks';
import type { Change, KeyState, LimiterInfo } from '../../src/messages.ts';
import { Name } from './name.tsx';
import { post } from './stream.ts';

/** The key that is drawn. */
export interface Chosen {
  readonly limiter: string;
  readonly key: string;
}

interface Props {
  readonly chosen: Chosen;
  readonly limiter: LimiterInfo;
  readonly state: KeyState;
}

type Action = Change['action'];

const WORDS: Readonly<Record<Action, readonly [button: string, question: string]>> = {
  unblock: ['Unblock', 'End the block of this key? It keeps its count.'],
  reset: ['Reset', 'Forget what this key took, its bookings and a block? All its permits are back.'],
  override: ['Override', 'Give this key other numbers, in all processes?'],
  removeOverride: ['End override', 'End the override? The policy of the code counts again.'],
};

/** Numbers of a policy that count permits. */
const NUMBERS = ['limit', 'capacity', 'refill', 'leak', 'burst'];

/** Changes of a key. Each asks first. */
export function Actions({ chosen, limiter, state }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [action, setAction] = useState<Action>('reset');
  const [said, setSaid] = useState('');
  const [failed, setFailed] = useState('');
  const [policy, setPolicy] = useState(Object.keys(limiter.policies)[0] ?? '');
  const numbers = Object.entries({ ...limiter.policies[policy] }).filter(([name]) => NUMBERS.includes(name));
  const possible: readonly Action[] = [
    ...(state.policies.some(({ blockedUntil }) => blockedUntil > state.now) ? (['unblock'] as const) : []),
    'reset',
    'override',
    ...(state.policies.some(({ overridden }) => overridden) ? (['removeOverride'] as const) : []),
  ];

  const ask = (next: Action) => {
    setAction(next);
    setFailed('');
    dialog.current!.showModal();
  };
  const carryOut = async (form: HTMLFormElement) => {
    const fields = new FormData(form);
    const own =
      action !== 'override'
        ? { action }
        : {
            action,
            policy,
            numbers: Object.fromEntries(numbers.map(([name]) => [name, Number(fields.get(name))])),
            expiresIn: String(fields.get('expiresIn')),
          };
    try {
      setSaid((await post('change', { ...chosen, ...own, confirmed: true })).done);
      dialog.current!.close();
    } catch (error) {
      setFailed((error as Error).message);
    }
  };

  return (
    <div class="actions">
      {possible.map((one) => (
        <button type="button" key={one} onClick={() => ask(one)}>
          {WORDS[one][0]}…
        </button>
      ))}
      <p role="status">{said}</p>
      <dialog ref={dialog} aria-labelledby="question">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void carryOut(event.currentTarget);
          }}
        >
          <p id="question">{WORDS[action][1]}</p>
          <p class="name">
            <Name text={chosen.limiter} />:{' '}
            <bdi>
              <Name text={chosen.key} />
            </bdi>
          </p>
          {action === 'override' && (
            <div class="fields">
              {Object.keys(limiter.policies).length > 1 && (
                <label>
                  <span>policy</span>
                  <select value={policy} onChange={(event) => setPolicy(event.currentTarget.value)}>
                    {Object.keys(limiter.policies).map((name) => (
                      <option key={name}>{name}</option>
                    ))}
                  </select>
                </label>
              )}
              {numbers.map(([name, value]) => (
                <label key={`${policy} ${name}`}>
                  <span>{name}</span>
                  <input name={name} type="number" min="0" step="any" required defaultValue={String(value)} />
                </label>
              ))}
              <label>
                <span>for</span>
                <input
                  name="expiresIn"
                  required
                  pattern="[0-9].*"
                  defaultValue="1h"
                  title="Such as 30m, 1h or 7d"
                />
              </label>
            </div>
          )}
          {failed !== '' && <p role="alert">{failed}</p>}
          <p class="buttons">
            <button type="submit">{WORDS[action][0]}</button>
            <button type="button" class="quiet" onClick={() => dialog.current!.close()}>
              Cancel
            </button>
          </p>
        </form>
      </dialog>
    </div>
  );
}
