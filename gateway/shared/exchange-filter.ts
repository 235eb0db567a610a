// The filter of recent exchanges: the page of the console names it, and the log finds the lines.

/** Every member that is present has to hold. */
export interface ExchangeFilter {
  readonly code?: string | undefined;
  /** Method and path template; `GET unmatched` for requests that belong to no operation. */
  readonly operation?: string | undefined;
  readonly organization?: string | undefined;
  readonly key?: string | undefined;
  /** The address of the client. */
  readonly client?: string | undefined;
  readonly upstream?: string | undefined;
  /** A status (`502`) or a class (`5xx`); `failed`: 4xx and 5xx. */
  readonly status?: string | undefined;
  /** Epoch milliseconds: the end of the exchange, the first included. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly durationMinMs?: number | undefined;
  /** Most exchanges in the list. */
  readonly limit: number;
}

/** The log line of an exchange, parsed. */
export type ExchangeLine = Readonly<Record<string, unknown>>;
