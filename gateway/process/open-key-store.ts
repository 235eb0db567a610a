// Opens the secrets and the key store that the gateway and its commands share.

import { createDigestOf, type DigestOf, keyFingerprint } from '../auth/api-key.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import { loadSecrets, type Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import type { HostProcess } from './host-process.ts';

export interface OpenKeyStore {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
}

export function openSecrets({ environment }: Pick<HostProcess, 'environment'>, settings: Settings): Secrets {
  const { secretsDirectory: directory, dataDirectory, redisUrl } = settings;
  return loadSecrets({ directory, environment, dataDirectory, redisUrl });
}

/** Opens the store, which the caller has to close. Rejects with an Error for operators if the store cannot be opened. */
export async function openKeyStore(
  around: Pick<HostProcess, 'environment' | 'now'>,
  settings: Settings,
  secrets: Secrets = openSecrets(around, settings),
): Promise<OpenKeyStore> {
  const digestOf = createDigestOf(await secrets.keyPepper());
  const options = { pepperFingerprint: keyFingerprint(digestOf), now: around.now };
  const { redisUrl: url, dataDirectory: directory, acceptOneWay } = settings;
  if (url === undefined) {
    const { createSqliteKeyStore } = await import('../auth/store/sqlite/sqlite-key-store.ts');
    return { store: createSqliteKeyStore({ directory, acceptOneWay, ...options }), digestOf };
  }
  const { openRedisStore } = await import('../auth/store/redis/redis-key-store.ts');
  return { store: await openRedisStore({ url, ...options }), digestOf };
}
