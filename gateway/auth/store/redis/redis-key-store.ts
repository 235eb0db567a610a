// The key store in Redis, shared by gateways on many machines. Every change is one script that writes the records, the audit row and the
// announcement.

import type { ConnectRedis } from '../../../redis/client.ts';
import { subscribe } from '../../../redis/subscribe.ts';
import { shownRedisUrl } from '../../../redis/url.ts';
import type { Machine } from '../../../shared/machine.ts';
import type { KeyStore } from '../key-store.ts';
import { createRedisAudit } from './audit.ts';
import { mendIndex } from './damage.ts';
import { createRedisInstances } from './instances.ts';
import { openConnection } from './key-store-connection.ts';
import { toStoreScript } from './key-store-script.ts';
import { createRedisKeys } from './keys.ts';
import { createRedisOrganizations } from './organizations.ts';
import { createRedisBatches } from './seed-and-import.ts';

const SERVING_DEADLINE_MS = 500;
const PATIENT_DEADLINE_MS = 10_000;

const OPEN = toStoreScript(`
return { call('HGET', meta, 'born'), base .. 'announced' }
`);

interface RedisKeyStoreOptions {
  /** See `parseRedisUrl`. The query may contain `keyPrefix`, with which several platforms can share one server. */
  readonly url: string;
  /** The fingerprint is written to an empty store; a different fingerprint is rejected later. */
  readonly pepperFingerprint: string;
  now(): number;
  readonly connect?: ConnectRedis;
  readonly machine?: Machine;
}

/**
 * Opens the store. Rejects with an Error for operators if Redis cannot be reached, or if its data is newer or was written with another
 * pepper.
 */
export async function openRedisStore(options: RedisKeyStoreOptions): Promise<KeyStore> {
  const { url, pepperFingerprint, now } = options;
  const closers: (() => void)[] = [];
  const connect = async (deadlineMs: number) => {
    const connection = await openConnection({ ...options, deadlineMs });
    closers.push(connection.close);
    return connection.run;
  };
  const close = () => {
    for (const end of closers) end();
  };
  try {
    const serving = await connect(SERVING_DEADLINE_MS);
    const patient = await connect(PATIENT_DEADLINE_MS);
    const [born, channel] = (await patient(OPEN)) as readonly [string, string];
    const connections = { serving, patient };
    return {
      organizations: createRedisOrganizations(connections),
      keys: createRedisKeys(connections, now),
      audit: createRedisAudit({
        ...connections,
        born,
        subscribe(onAnnounced) {
          const hear = { onMessage: onAnnounced, onSubscribed: onAnnounced };
          const end = subscribe({ url, channels: () => [channel], ...hear, connect: options.connect });
          closers.push(end);
          return end;
        },
      }),
      instances: createRedisInstances(connections),
      pepperFingerprint,
      ...createRedisBatches(patient),
      mend: () => mendIndex(patient),
      close,
    };
  } catch (cause) {
    close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The key store ${shownRedisUrl(url)} cannot be opened: ${reason}`, { cause });
  }
}
