import pg from 'pg';

/** What a doctor must know about a store in Postgres. */
export interface PostgresPlace {
  /** The address, with user and password. */
  readonly url: string;
  /** The same without them. */
  readonly address: string;
  readonly table: string;
  readonly schema: string | undefined;
}

export type Row = Readonly<Record<string, string | number | boolean | null>>;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A server of Postgres that is examined. It only reads. */
export class ExaminedPostgres {
  readonly name: string;
  readonly #client: pg.Client;
  readonly #options: pg.ClientConfig;

  constructor(
    readonly place: PostgresPlace,
    /** The longest wait for one reply, ms. */
    readonly timeout: number,
  ) {
    this.name = new URL(place.url).host;
    this.#options = {
      connectionString: place.url,
      application_name: 'sluice-doctor',
      connectionTimeoutMillis: timeout,
      query_timeout: timeout,
    };
    this.#client = new pg.Client(this.#options);
    this.#client.on('error', () => {}); // the query rejects, too
  }

  /** The table as SQL writes it. */
  get table(): string {
    const { schema, table } = this.place;
    return schema === undefined ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
  }

  /** @throws the error of pg */
  async connect(): Promise<void> {
    await this.#client.connect();
  }

  /** The first row. @throws the error of pg */
  async row(sql: string, values: readonly unknown[] = []): Promise<Row> {
    return (await this.rows(sql, values))[0] ?? {};
  }

  /** @throws the error of pg */
  async rows(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return (await this.#client.query<Row>(sql, values as unknown[])).rows;
  }

  /** The id of the server process that this client received at its login. */
  get loginProcess(): number | null {
    return (this.#client as unknown as { processID: number | null }).processID;
  }

  /** Another connection with the same settings. It is not connected. */
  again(): ExaminedPostgres {
    return new ExaminedPostgres(this.place, this.timeout);
  }

  /** Never throws: a lost connection is closed. */
  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
  }
}

/** The code of an error that the server has sent, such as `28P01`; '' for any other. */
export const codeOf = (error: unknown): string => {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && severity !== undefined ? code : '';
};
