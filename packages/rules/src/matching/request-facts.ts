import { readProperty } from '@sluice/core/internal';
import { pathOf, type RequestView } from '@sluice/http';
import { SplitPath } from './path-pattern.js';

const SLASH = /%2f/i;

/** @param path normalized by `pathOf`: it can contain a decoded `?` */
const withSlashes = (path: string): string =>
  pathOf(path.replace(/[?#]/g, encodeURIComponent).replace(/%2f/gi, '/'));

/** Has the path several readings, which different rules can match? */
export const isAmbiguous = ({ path, writtenPath }: RequestView): boolean =>
  writtenPath !== undefined || SLASH.test(path);

/** The parts of a request that rules match, read once for all rules. */
export class RequestFacts {
  /**
   * All readings of the path: with its dot segments, without them, and with `%2F` as slashes. A router uses
   * the first or the second reading, and handlers of files use the last.
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
    this.#query ??= this.view.query; // some frameworks parse it at each access
    return readProperty(this.#query, name);
  }

  /** A field of the user that authentication put on the request. */
  userField(name: string): unknown {
    return readProperty(this.view.user, name);
  }

  /** The id of the user, as `USER` counts it; undefined without a signed-in user. */
  get userId(): unknown {
    const { user } = this.view;
    const id = typeof user === 'object' ? this.userField('id') : user;
    return id === '' || id === false ? undefined : id;
  }
}
