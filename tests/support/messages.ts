import { type Channel, tracingChannel } from 'node:diagnostics_channel';
import {
  type DecisionMessage,
  subscribe,
  type TelemetryChannel,
  type TelemetryMessages,
} from '../../packages/core/src/index.js';

const NAMES: readonly TelemetryChannel[] = [
  'sluice:decision',
  'sluice:wait',
  'sluice:lease',
  'sluice:escalated',
  'sluice:refund',
  'sluice:store-call',
  'sluice:degraded',
  'sluice:recovered',
  'sluice:store-error',
  'sluice:warning',
];

/** Records the messages of the channels until `stop`. */
export class Messages {
  /** Channel and state of each message, in order: `wait waiting`, `decision denied`. A trace has only the event: `asyncEnd`. */
  readonly log: string[] = [];
  readonly #all: { readonly name: string; readonly message: unknown }[] = [];
  readonly #stops: (() => void)[] = [];

  /**
   * @param limiter its name; default: messages of all limiters and stores
   * @param traced whether to subscribe to the tracing channel, too
   */
  constructor(
    readonly limiter?: string,
    { traced = false, channels = NAMES }: { traced?: boolean; channels?: readonly TelemetryChannel[] } = {},
  ) {
    for (const name of channels) this.#stops.push(subscribe(name, (message) => this.#note(name, message)));
    if (traced) this.#trace();
  }

  on<Name extends TelemetryChannel>(name: Name): TelemetryMessages[Name][] {
    return this.#all.filter((one) => one.name === name).map(({ message }) => message as never);
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #trace(): void {
    for (const event of ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const) {
      const traced: Channel = tracingChannel('sluice:decide')[event] as never;
      const listener = (message: unknown) => {
        if (this.limiter !== undefined && (message as DecisionMessage).limiter !== this.limiter) return;
        this.log.push(event);
        this.#all.push({ name: event, message });
      };
      traced.subscribe(listener);
      this.#stops.push(() => void traced.unsubscribe(listener));
    }
  }

  #note(name: TelemetryChannel, message: object): void {
    const { limiter, state, result, reason } = message as Record<string, string | undefined>;
    if (this.limiter !== undefined && limiter !== this.limiter) return;
    const kind = name.slice('sluice:'.length);
    const what = state ?? result ?? reason ?? (kind === 'wait' ? 'waiting' : '');
    this.log.push(`${kind} ${what}`.trim());
    this.#all.push({ name, message });
  }
}
