import { type RequestView, readProperty } from '@sluice/core/http';
import { SplitPath } from './path-pattern.js';

/** What rules match on, read once for all of them. */
export class RequestFacts {
  readonly path: SplitPath;
  /** The path with its dot segments, if it has any. */
  readonly written: SplitPath | undefined;
  readonly method: string;
  #host: string | undefined;

  constructor(readonly view: RequestView) {
    const { path, writtenPath } = view;
    this.path = new SplitPath(path);
    this.written = writtenPath === undefined ? undefined : new SplitPath(writtenPath);
    this.method = view.method.toUpperCase();
  }

  /** In lower case, without a port. */
  get host(): string {
    this.#host ??= String(this.header('host') ?? this.header(':authority') ?? '')
      .toLowerCase()
      .replace(/:\d*$/, '')
      .replace(/\.$/, '');
    return this.#host;
  }

  header(name: string): unknown {
    return readProperty(this.view.headers, name);
  }
}
