import { isSluiceError } from '@sluice/core';
import { type InspectedPolicy, inspectKey, policyText } from '@sluice/fleet';
import { Refusal } from './answers.js';
import { asError, warnOfRead } from './failure.js';
import type { Limiters } from './limiters.js';
import type { KeyEvents, KeyState, MeterState, PolicyState } from './messages.js';
import { meterState } from './meter-state.js';
import type { Source } from './streams.js';

/** Pause between two reads of a key, ms. */
const PERIOD = 500;
/** The most entries, holders and waiting calls that are sent of a state. */
const MOST_ENTRIES = 300;

/** @throws Refusal */
export function keyOf({ limiter, key }: Readonly<Record<string, unknown>>): { limiter: string; key: string } {
  if (typeof limiter !== 'string' || limiter === '') throw new Refusal(400, 'Name a limiter');
  if (typeof key !== 'string' || key === '') throw new Refusal(400, 'Name a key');
  return { limiter, key };
}

/** Reads a key repeatedly, and sends each change. @throws Refusal */
export function keySource(limiters: Limiters, body: Readonly<Record<string, unknown>>): Source {
  const { limiter: name, key } = keyOf(body);
  return (send) => {
    const write = <E extends keyof KeyEvents>(event: E, data: KeyEvents[E]) => send(event, data);
    let last = '';
    let ended = false;
    let timer: NodeJS.Timeout;
    const look = async () => {
      const [event, data, text] = await seen(limiters, name, key);
      if (ended) return;
      if (text !== last) write(event, data as never);
      last = text;
      timer = setTimeout(look, PERIOD).unref();
    };
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  };
}

/** @returns an event, and a text that stays equal while only the time changes */
async function seen(
  limiters: Limiters,
  name: string,
  key: string,
): Promise<['key', KeyState, string] | ['meter', MeterState, string] | ['problem', string, string]> {
  try {
    const definition = await limiters.definition(name);
    if (definition.meter !== undefined)
      return ['meter', ...(await meterState(limiters.store, definition, key))];
    const inspected = await inspectKey(limiters.store, definition, key);
    const { now, known, allowed, wait = null, policies } = inspected;
    const state: KeyState = { now, known, allowed, wait, policies: policies.map(policyState) };
    // The level of a bucket changes with time, and the page computes it itself.
    const same = policies.map(({ state: { state }, ...policy }) => [
      policy.remaining,
      policy.overrideUntil,
      policy.blockedUntil,
      policy.escalation,
      policy.booked,
      policy.numbers,
      state,
    ]);
    return ['key', state, JSON.stringify([known, allowed, same])];
  } catch (error) {
    const isExpected =
      isSluiceError(error) || [Refusal, TypeError, RangeError].some((kind) => error instanceof kind);
    if (!isExpected) warnOfRead(error);
    const { message } = asError(error);
    return ['problem', message, message];
  }
}

function policyState({ state: { view }, booked, ...policy }: InspectedPolicy): PolicyState {
  const { name, policy: numbers, overridden, overrideUntil, blockedUntil, escalation, remaining } = policy;
  return {
    name,
    policy: numbers,
    text: policyText(numbers),
    overridden,
    overrideUntil,
    blockedUntil,
    escalation,
    booked: booked.slice(0, MOST_ENTRIES),
    remaining,
    view: bounded(view),
  };
}

type View = PolicyState['view'];

/** The view with the latest entries only, as many as a picture can show. */
function bounded(view: View): View {
  if (view.kind === 'log') return { ...view, entries: view.entries.slice(-MOST_ENTRIES) };
  if (view.kind !== 'holders') return view;
  const [holders, waiting] = [view.holders.slice(0, MOST_ENTRIES), view.waiting.slice(0, MOST_ENTRIES)];
  return { ...view, holders, waiting };
}
