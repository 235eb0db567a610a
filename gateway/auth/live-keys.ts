// Lists the keys of an organization that are neither revoked nor expired.

import type { KeyStore } from './store/key-store.ts';

/** Returns key ids, oldest first. */
export async function liveKeysOf(
  { keys }: Pick<KeyStore, 'keys'>,
  organization: string,
  nowMs: number,
): Promise<readonly string[]> {
  const all = await keys.list({ organization });
  const isLive = ({ revokedAtMs, expiresAtMs }: (typeof all)[number]) =>
    revokedAtMs === undefined && (expiresAtMs === undefined || expiresAtMs > nowMs);
  return all.filter(isLive).map(({ id }) => id);
}
