import { useEffect, useState } from 'preact/hooks';
import type { KeyState, LimiterInfo, MeterState } from '../../src/messages.ts';
import { Actions, type Chosen } from './actions.tsx';
import { Drawing } from './drawing.tsx';
import { Meter } from './meter.tsx';
import { Name } from './name.tsx';
import { openStream, postOf } from './stream.ts';
import { useNow } from './use-now.ts';
import { bookedInWords, clockTime, stateInWords, stepOf } from './words.ts';

interface Props {
  readonly limiters: readonly LimiterInfo[];
  readonly chosen: Chosen | undefined;
  readonly write: boolean;
  readonly onChoose: (chosen: Chosen) => void;
}

/** One key, drawn as it is now. */
export function KeyPanel({ limiters, chosen, write, onChoose }: Props) {
  const [limiter, setLimiter] = useState('');
  const [key, setKey] = useState('');
  useEffect(() => {
    if (chosen === undefined) return;
    setLimiter(chosen.limiter);
    setKey(chosen.key);
  }, [chosen]);
  // A combination and a shared rate have no keys of their own.
  const withKeys = limiters.filter(
    ({ kind, policies }) => kind === 'meter' || Object.keys(policies).length > 0,
  );
  const name = limiter || withKeys[0]?.name || '';
  return (
    <section aria-labelledby="key-heading">
      <h2 id="key-heading" tabindex={-1}>
        One key
      </h2>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== '' && key !== '') onChoose({ limiter: name, key });
        }}
      >
        <label for="limiter">Limit</label>
        <select id="limiter" value={name} onChange={(event) => setLimiter(event.currentTarget.value)}>
          {withKeys.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
        </select>
        <label for="key">Key</label>
        <input
          id="key"
          value={key}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit">Show</button>
      </form>
      {chosen !== undefined && (
        <Watched
          key={`${chosen.limiter} ${chosen.key}`}
          chosen={chosen}
          limiter={limiters.find((one) => one.name === chosen.limiter)}
          write={write}
        />
      )}
    </section>
  );
}

interface Answer {
  readonly state: KeyState;
  /** µs by which the store's clock is ahead of this one. */
  readonly ahead: number;
}

interface MeterAnswer {
  readonly state: MeterState;
  readonly ahead: number;
}

function Watched({
  chosen,
  limiter,
  write,
}: {
  readonly chosen: Chosen;
  readonly limiter: LimiterInfo | undefined;
  readonly write: boolean;
}) {
  const [answer, setAnswer] = useState<Answer | undefined>();
  const [meter, setMeter] = useState<MeterAnswer | undefined>();
  const [problem, setProblem] = useState('');
  useEffect(
    () =>
      openStream(
        'key',
        postOf(chosen),
        (name, data) => {
          setProblem(name === 'problem' ? String(data) : '');
          const ahead = () => (data as { readonly now: number }).now - Date.now() * 1000;
          if (name === 'meter') setMeter({ state: data as MeterState, ahead: ahead() });
          if (name === 'key') setAnswer({ state: data as KeyState, ahead: ahead() });
        },
        (connection) => {
          if (connection === 'lost')
            setProblem((before) => before || 'The server does not answer: trying again.');
        },
      ),
    [chosen],
  );
  return (
    <div id="watched">
      <h3 class="name">
        <Name text={chosen.limiter} />:{' '}
        <bdi>
          <Name text={chosen.key} />
        </bdi>
      </h3>
      {problem !== '' && (
        <p role="alert" class="outage">
          {problem}
        </p>
      )}
      {meter !== undefined && problem === '' && <Meter {...meter} />}
      {answer !== undefined && problem === '' && <State {...answer} />}
      {answer !== undefined && write && limiter !== undefined && (
        <Actions chosen={chosen} limiter={limiter} state={answer.state} />
      )}
    </div>
  );
}

function State({ state, ahead }: Answer) {
  const now = useNow() + ahead;
  const passesAt = state.wait === null ? null : state.now + state.wait;
  const passes = state.allowed || (passesAt !== null && passesAt <= now);
  const local = (moment: number) => clockTime((moment - ahead) / 1000);
  return (
    <>
      <p class="verdict" aria-live="polite">
        {passes ? (
          <strong class="allowed">A call would pass now.</strong>
        ) : (
          <>
            <strong class="denied">A call would be denied</strong>
            {passesAt === null ? ', and no wait helps.' : ` until ${local(passesAt)}.`}
          </>
        )}
        {!state.known && ' The store keeps nothing of this key: it took nothing lately.'}
      </p>
      {state.policies.map((one) => {
        const leaky = one.policy.algorithm === 'leakyBucket';
        return (
          <figure class="policy-state" key={one.name}>
            <Drawing policy={one} now={now} leaky={leaky} />
            <figcaption>
              <strong>{state.policies.length > 1 && `${one.name}: `}</strong>
              {one.text}. {stateInWords(one, now, leaky)}
              {bookedInWords(one.booked.length)}
              {one.overridden && (
                <em>
                  {' '}
                  Other numbers by an override
                  {one.overrideUntil !== undefined && ` until ${local(one.overrideUntil)}`}.
                </em>
              )}
              {one.blockedUntil > now && (
                <em>
                  {' '}
                  Blocked{stepOf(one)} until {local(one.blockedUntil)}.
                </em>
              )}
              {one.escalation?.forgivenAt !== undefined && (
                <span>
                  {' '}
                  Forgiven {new Date((one.escalation.forgivenAt - ahead) / 1000).toLocaleString()}, if no
                  other denial counts.
                </span>
              )}
            </figcaption>
          </figure>
        );
      })}
    </>
  );
}
