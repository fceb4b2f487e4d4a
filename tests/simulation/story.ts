interface StoryEvent {
  readonly at: number;
  readonly who: string;
  readonly what: string | (() => string);
  readonly about: string | undefined;
}

/** Lines that a reader still reads. */
const MOST = 120;

/** The events of a run, in order. Texts are made when someone reads them. */
export class Story {
  readonly #lines: StoryEvent[] = [];

  constructor(private readonly now: () => number) {}

  /**
   * @param what a function if the text takes time to make
   * @param about the limit and the key; undefined: it concerns all
   */
  note(who: string, what: StoryEvent['what'], about?: string): void {
    this.#lines.push({ at: this.now(), who, what, about });
  }

  /** The last lines about one key, or about all, with their moments in ms. */
  text(about?: string): string {
    const events = this.#lines.filter(
      (event) => about === undefined || event.about === undefined || event.about === about,
    );
    const lines = events.slice(-MOST).map(({ at, who, what }) => {
      const moment = (at / 1000).toFixed(3).padStart(10);
      return `${moment} ms  ${who.padEnd(8)} ${typeof what === 'string' ? what : what()}`;
    });
    return events.length > MOST ? ['…', ...lines].join('\n') : lines.join('\n');
  }
}
