// Which keys of an organization can still be used.

import type { KeyStore } from './store/store.ts';

/** Their ids, oldest first. */
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
