// Pure: counts recent requests by code, caller and operation, for the page of one of them.

import type { ExchangeRow } from './exchanges.ts';

interface Share {
  readonly name: string;
  readonly requests: number;
  /** 5xx that the gateway did not give itself. */
  readonly failed: number;
  /** By the gateway, before the service had it. */
  readonly refused: number;
  /** Those of the refused with 5xx: a broken-off or full upstream hurts its clients as a failing one does. */
  readonly unserved: number;
  /** For a request without an organization: the name is the address of the client. */
  readonly client?: true;
}

interface Breakdown {
  readonly requests: number;
  readonly codes: readonly Share[];
  readonly organizations: readonly Share[];
  readonly operations: readonly Share[];
  /** The latest that failed or were refused. */
  readonly errors: readonly ExchangeRow[];
  readonly latest: readonly ExchangeRow[];
}

const SHARES_MAX = 15;
const LATEST_MAX = 10;

/** @param rows the newest first */
export function breakdownOf(rows: readonly ExchangeRow[]): Breakdown {
  return {
    requests: rows.length,
    codes: sharesOf(rows, ({ code }) => code),
    organizations: sharesOf(rows, ({ organization, client }) => organization ?? client),
    operations: sharesOf(rows, ({ operation }) => operation),
    errors: rows.filter(({ code, status }) => code !== null || status >= 500).slice(0, LATEST_MAX),
    latest: rows.slice(0, LATEST_MAX),
  };
}

function sharesOf(rows: readonly ExchangeRow[], nameOf: (row: ExchangeRow) => string | null): Share[] {
  const groups = Map.groupBy(
    rows.filter((row) => nameOf(row) !== null),
    (row) => nameOf(row) as string,
  );
  return [...groups]
    .map(([name, all]): Share => {
      const refused = all.filter((row) => row.refused).length;
      const failed = all.filter((row) => row.status >= 500 && !row.refused).length;
      const unserved = all.filter((row) => row.refused && row.status >= 500).length;
      const isClient = all[0]?.organization === null && name === all[0].client;
      return { name, requests: all.length, failed, refused, unserved, ...(isClient && { client: true }) };
    })
    .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name))
    .slice(0, SHARES_MAX);
}
