// What start and check need of the process they run in, and how the key store is opened.

import { createDigestOf, keyFingerprint } from '../auth/api-key.ts';
import { openRedisStore } from '../auth/store/redis/store.ts';
import { createSqliteKeyStore } from '../auth/store/sqlite/store.ts';
import type { Settings } from '../config/load.ts';
import { loadSecrets, type Secrets } from '../config/secrets.ts';
import type { OpenStore } from './context.ts';

export interface CommandEnvironment {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  now(): number;
  /** Standard output. */
  write(text: string): void;
  /** Standard error. */
  complain(text: string): void;
  exit(code: number): never;
  /** Ends at once: nothing that waits to be written is. */
  abort(): void;
  /** Called with the wish to end: SIGTERM or SIGINT. */
  onSignal(handle: () => void): void;
  /** Called with the wish to have the configuration read anew: SIGHUP. */
  onReload(handle: () => void): void;
  /** Called with the wish to have every worker replaced by a new one: SIGUSR2. */
  onRestart(handle: () => void): void;
  /** Called with what was thrown, or rejected, and caught by nobody. Without a handler Node prints it and ends with 1. */
  onCrash(handle: (error: unknown) => void): void;
}

export function openSecrets({ environment }: Pick<CommandEnvironment, 'environment'>, settings: Settings): Secrets {
  const { secretsDirectory: directory, dataDirectory, redisUrl } = settings;
  return loadSecrets({ directory, environment, dataDirectory, redisUrl });
}

/** The store every command and the gateway itself work on. Rejects with a sentence when it cannot be opened. */
export async function openKeyStore(
  surroundings: Pick<CommandEnvironment, 'environment' | 'now'>,
  settings: Settings,
  secrets: Secrets = openSecrets(surroundings, settings),
): Promise<OpenStore> {
  const digestOf = createDigestOf(await secrets.keyPepper());
  const options = { pepperFingerprint: keyFingerprint(digestOf), now: surroundings.now };
  const { redisUrl: url, dataDirectory: directory } = settings;
  const store =
    url === undefined ? createSqliteKeyStore({ directory, ...options }) : openRedisStore({ url, ...options });
  return { store: await store, digestOf };
}
