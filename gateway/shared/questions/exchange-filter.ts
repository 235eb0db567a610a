// The filter of recent exchanges, which the page of the console names, and by which the log finds the lines.

/** The owner of exchanges. All members that are present have to match. */
export interface ExchangeOwner {
  readonly organization?: string | undefined;
  readonly mode?: 'live' | 'test' | undefined;
  readonly key?: string | undefined;
  /** The issuer of a token or the provider of a session, and the subject that it names. */
  readonly issuer?: string | undefined;
  readonly subject?: string | undefined;
}

/** Every member that is present has to hold. */
export interface ExchangeFilter extends ExchangeOwner {
  readonly code?: string | undefined;
  /** Method and path template; `GET unmatched` for requests that belong to no operation. */
  readonly operation?: string | undefined;
  /** The `operationId`. */
  readonly operationId?: string | undefined;
  /** The address of the client. */
  readonly client?: string | undefined;
  readonly upstream?: string | undefined;
  /**
   * A status (`502`) or a class (`5xx`). `failed`: 4xx and 5xx. `refused`: refused by the gateway before it was sent to the service.
   * `service_failed`: 5xx that the gateway itself did not cause. `broken`: the client got an answer that breaks the contract.
   */
  readonly status?: string | undefined;
  /** Bounds for the end of the exchange, in epoch milliseconds. The first is inclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly durationMinMs?: number | undefined;
  /** The position after which the list begins. The list has the newest exchanges first. */
  readonly behind?: PlaceInList | undefined;
  /** Maximum number of exchanges in the list. */
  readonly limit: number;
}

/** The position of an exchange in a list, by the time of its end, and within a millisecond by its id. */
export interface PlaceInList {
  readonly atMs: number;
  readonly requestId: string;
}

/** The log line of an exchange, parsed. */
export type ExchangeLine = Readonly<Record<string, unknown>>;

/** Each exchange once, the newest first. */
export function inOrderOfExchanges(lines: readonly ExchangeLine[]): ExchangeLine[] {
  const byId = new Map(lines.map((line) => [line.request_id, line]));
  return [...byId.values()].sort(
    (one, other) => Number(other.time) - Number(one.time) || (isBefore(one, other) ? 1 : -1),
  );
}

function isBefore({ request_id: one }: ExchangeLine, { request_id: other }: ExchangeLine): boolean {
  return String(one) < String(other);
}
