import type { LeftOut } from '@sluice/fleet';
import type { Finding } from './messages.js';

/** The most texts that are named: another program can write any number of them. */
const MOST = 5;

/** Findings on published texts that this process cannot read. */
export class Unread {
  readonly #denials = new Map<string, LeftOut>();
  #published: readonly LeftOut[] = [];
  #text = '[]';

  /** Sets the unreadable definitions and counts of all processes. @returns true if the findings changed */
  published(notes: readonly LeftOut[]): boolean {
    this.#published = notes;
    return this.#hasChanged();
  }

  /** Adds an unreadable report of denials. @returns true if the findings changed */
  denials(note: LeftOut): boolean {
    if (this.#denials.size < MOST) this.#denials.set(note.process, note);
    return this.#hasChanged();
  }

  get findings(): readonly Finding[] {
    const all = [...this.#published, ...this.#denials.values()];
    const named = all.slice(0, MOST).map(({ process, reason }) => `${process}: ${reason}`);
    const more = all.length > MOST ? [`and ${all.length - MOST} more`] : [];
    if (all.length === 0) return [];
    return [
      {
        level: 'warning',
        what: `What processes published is left out in part. Of process ${[...named, ...more].join('; ')}.`,
        why: 'Another program, or another version of Sluice, has written it. Limits, counts or denials are missing on this page.',
        fix: 'Update this process, or delete the keys sluice:v2:fleet:* that are not ours',
      },
    ];
  }

  #hasChanged(): boolean {
    const text = JSON.stringify(this.findings);
    const before = this.#text;
    this.#text = text;
    return text !== before;
  }
}
