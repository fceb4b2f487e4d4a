/** Names of this machine. */
const OWN_NAMES = ['127.0.0.1', '[::1]', 'localhost'];

/**
 * The accepted values of `Host`. Otherwise a foreign site could point its own name to this address (DNS rebinding), and read
 * the page in the browser of a signed-in user.
 */
export class Hosts {
  readonly #names: readonly string[];

  /** @throws TypeError for an invalid name */
  constructor(names: readonly string[] = OWN_NAMES) {
    if (!Array.isArray(names) || names.length === 0) throw invalid(names);
    this.#names = names.map((name) => {
      const host = typeof name === 'string' ? hostOf(`http://${name}`) : undefined;
      if (host === undefined || host.host !== name.toLowerCase()) throw invalid(name);
      return host.host;
    });
  }

  accepts(request: Request): boolean {
    const host = hostNamed(request);
    return host !== undefined && (this.#names.includes(host.hostname) || this.#names.includes(host.host));
  }

  /** Did the page itself send the request? Browsers name the origin of every POST. */
  isFromPage(request: Request): boolean {
    const site = request.headers.get('Sec-Fetch-Site');
    if (site !== null && site !== 'same-origin') return false;
    const origin = hostOf(request.headers.get('Origin') ?? '');
    if (origin === undefined) return false;
    // A proxy can change `Host`: then the origin must be one of the names.
    return origin.host === hostNamed(request)?.host || this.#names.includes(origin.host);
  }
}

function hostNamed(request: Request): URL | undefined {
  const text = request.headers.get('Host') ?? new URL(request.url).host;
  return /^[\w.:[\]-]+$/.test(text) ? hostOf(`http://${text}`) : undefined;
}

const hostOf = (url: string): URL | undefined => (URL.canParse(url) ? new URL(url) : undefined);

const invalid = (name: unknown): TypeError =>
  new TypeError(
    `dashboard: hosts must be a list of host names, such as ['admin.example.com', 'localhost:3000'], not ${JSON.stringify(name)}`,
  );
