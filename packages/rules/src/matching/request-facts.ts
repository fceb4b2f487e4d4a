import { pathOf, type RequestView, readProperty } from '@sluice/core/http';
import { SplitPath } from './path-pattern.js';

const SLASH = /%2f/i;

/** @param path normalized by `pathOf`: it may have a decoded `?` */
const withSlashes = (path: string): string =>
  pathOf(path.replace(/[?#]/g, encodeURIComponent).replace(/%2f/gi, '/'));

/** Has the path several meanings, which different rules may match? */
export const isAmbiguous = ({ path, writtenPath }: RequestView): boolean =>
  writtenPath !== undefined || SLASH.test(path);

/** What rules match on, read once for all of them. */
export class RequestFacts {
  /**
   * All that the path may mean: with its dot segments, if it has any; without them; and with `%2F` as slashes, if it has any. A router reads
   * the first or the second one, and handlers of files the last one.
   */
  readonly paths: readonly SplitPath[];
  readonly method: string;
  #host: string | undefined;
  #query: unknown;

  constructor(readonly view: RequestView) {
    const { path, writtenPath } = view;
    const own = new SplitPath(path);
    const decoded = SLASH.test(path) ? [new SplitPath(withSlashes(path))] : [];
    this.paths =
      writtenPath === undefined ? [own, ...decoded] : [new SplitPath(writtenPath), own, ...decoded];
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
