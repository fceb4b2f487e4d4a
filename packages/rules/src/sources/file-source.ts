import { watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fingerprintOf, type RulesSource, RulesSourceError, type SourcedRules } from './rules-source.js';

/** Time without a change after which a file counts as written, ms. */
const QUIET = 100;
/** How often a file that is missing or changing is checked, before it counts as unreadable. */
const LOOKS = { missing: 5, changing: 100 } as const;
/** A file whose last change is older is not being written, ms. */
const OLD = 2_000;
const MOST_BYTES = 4_000_000;
const EVERY = 5_000;

/** A file. Its folder is watched, so a replacement by a rename or a symbolic link is also noticed. */
export class FileSource implements RulesSource {
  readonly name: string;
  readonly identity: string;
  readonly file: string;
  readonly every = EVERY;
  /** State of the file when it was read; undefined if it was young. */
  #signature: string | undefined;

  constructor(path: string | URL) {
    this.name = path instanceof URL ? fileURLToPath(path) : path;
    this.file = this.name;
    this.identity = resolve(this.name);
  }

  async read(known: string | undefined): Promise<SourcedRules | undefined> {
    const before = this.#signature;
    let [missing, changing] = [0, 0];
    for (;;) {
      const seen = await this.#look();
      if (seen === undefined) {
        missing += 1;
        if (missing >= LOOKS.missing) throw new RulesSourceError(this.name, 'there is no such file');
      } else if (seen.signature === before && known !== undefined) {
        return undefined;
      } else {
        const text = await readFile(this.name, 'utf8').catch(() => undefined); // replaced meanwhile: check again
        if (seen.age < OLD) await sleep(QUIET);
        if (text !== undefined && (await this.#look())?.signature === seen.signature) {
          // A file system that counts whole seconds gives a second write the same times: a young file is read again.
          this.#signature = seen.age < OLD ? undefined : seen.signature;
          const id = fingerprintOf(text);
          return id === known ? undefined : { id, text };
        }
        changing += 1;
        if (changing >= LOOKS.changing)
          throw new RulesSourceError(this.name, 'the file cannot be read, or changes all the time');
        continue;
      }
      await sleep(QUIET);
    }
  }

  watch(changed: () => void): () => void {
    try {
      const watcher = watch(dirname(this.name), { persistent: false }, changed);
      // Without a watcher, as on some network drives, the file is still read every few seconds.
      watcher.on('error', () => watcher.close());
      return () => watcher.close();
    } catch {
      return () => {};
    }
  }

  /** @returns undefined if the file is missing */
  async #look(): Promise<{ readonly signature: string; readonly age: number } | undefined> {
    try {
      const found = await stat(this.name, { bigint: true });
      const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs } = found;
      if (!found.isFile()) throw new RulesSourceError(this.name, 'it is no file');
      if (size > MOST_BYTES)
        throw new RulesSourceError(this.name, `the file has ${size} bytes; at most ${MOST_BYTES} are read`);
      const age = Math.abs(Date.now() - Number(mtimeMs));
      return { signature: [dev, ino, size, mtimeNs, ctimeNs].join(), age };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
