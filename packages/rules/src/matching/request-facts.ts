import { type RequestView, readProperty } from '@sluice/core/http';
import { SplitPath } from './path-pattern.js';

/** What rules match on, read once for all of them. */
export class RequestFacts {
  readonly path: SplitPath;
  /** The path with its dot segments, if it has any. */
  readonly written: SplitPath | undefined;
  readonly method: string;
  #host: string | undefined;
  #query: unknown;

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

  query(name: string): unknown {
    this.#query ??= this.view.query; // some frameworks parse it again for each look
    return readProperty(this.#query, name);
  }

  /** A field of the user that authentication put on the request. */
  userField(name: string): unknown {
    return readProperty(this.view.user, name);
  }

  /** The id of the user, as `USER` counts it; undefined if nobody has signed in. */
  get userId(): unknown {
    const { user } = this.view;
    const id = typeof user === 'object' ? this.userField('id') : user;
    return id === '' || id === false ? undefined : id;
  }
}
