/** The drafts of `RateLimit` headers: see `standardHeaders`. */
export type HeaderStyle = 'draft-11' | 'draft-8' | 'draft-7' | 'draft-6';

/** Which headers a response gets. */
export interface HeaderOptions {
  /**
   * The form of `RateLimit` and `RateLimit-Policy`: `'draft-11'` (default) of the IETF draft, `'draft-8'` (the same form),
   * `'draft-7'`, `'draft-6'` or `true` (as in express-rate-limit, draft 6); `false` for none.
   */
  readonly standardHeaders?: HeaderStyle | boolean | undefined;
  /** Adds `X-RateLimit-Limit`, `-Remaining` and `-Reset` (Unix seconds); default false. */
  readonly legacyHeaders?: boolean | undefined;
  /** Adds `pk` of drafts 11 and 8, an opaque hash of the key by which a client tells its own limits apart; default false. */
  readonly partitionKey?: boolean | undefined;
  /**
   * Adds to `Retry-After` a random part of the wait, up to this share of it: 0.2 for up to 20 %, at most 1. Clients that were denied together
   * then come back at different moments, and never too early. Default 0.
   */
  readonly retryAfterJitter?: number | undefined;
}
