// The cursors of lists. A cursor is a position, sealed together with everything that the list depends on. A cursor that was made for
// another operation, organization or filter, or by a client, is refused. Throws invalid_cursor.

import type { DigestOf } from '../../auth/api-key.ts';
import { GatewayError } from '../../catalogue/errors.ts';
import type { Organization } from '../../exchange/caller.ts';

export interface SealedCursors {
  /** Returns the position from the cursor of the query; undefined on the first page. Throws invalid_cursor. */
  position(): string | undefined;
  /** Returns the cursor of the page after this position. */
  cursorAfter(position: string): string;
}

export interface SealedCursorsOptions {
  /** Depends on a secret that all instances share. */
  readonly digestOf: DigestOf;
  readonly operationId: string;
  /** Values of the path. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly organization: Pick<Organization, 'id'>;
}

/** 132 bits. */
const SEAL_LENGTH = 22;
/** Parameters that may differ from page to page. The seal of a cursor does not cover them. */
const NO_FILTERS = new Set(['cursor', 'limit']);

export function createSealedCursors({
  digestOf,
  operationId,
  path,
  query,
  organization,
}: SealedCursorsOptions): SealedCursors {
  const filters = [...query].filter(([name]) => !NO_FILTERS.has(name)).sort();
  /** Returns the seal of a position. The sealed text begins unlike any API key, so that no seal equals the digest of a key. */
  const sealOf = (position: string) =>
    digestOf(`cursor ${JSON.stringify([organization.id, operationId, path, filters, position])}`).slice(0, SEAL_LENGTH);

  return {
    position() {
      const cursor = query.get('cursor');
      if (cursor === null) return undefined;
      const text = Buffer.from(cursor, 'base64url').toString('utf8');
      const position = text.slice(SEAL_LENGTH);
      const isSealed = text.length > SEAL_LENGTH && text.slice(0, SEAL_LENGTH) === sealOf(position);
      if (!isSealed) throw new GatewayError('invalid_cursor', { fields: { param: 'cursor' } });
      return position;
    },
    cursorAfter: (position) => Buffer.from(sealOf(position) + position, 'utf8').toString('base64url'),
  };
}
