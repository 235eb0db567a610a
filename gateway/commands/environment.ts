// The process environment that commands need, and how the key store is opened.

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
  /** Ends at once, without writing buffered output. */
  abort(): void;
  /** Handles SIGTERM and SIGINT: end. */
  onSignal(handle: () => void): void;
  /** Handles SIGHUP: reload the configuration. */
  onReload(handle: () => void): void;
  /** Handles SIGUSR2: replace every worker. */
  onRestart(handle: () => void): void;
  /** Handles uncaught exceptions and unhandled rejections. Without a handler Node prints the error and exits with 1. */
  onCrash(handle: (error: unknown) => void): void;
}

export function openSecrets({ environment }: Pick<CommandEnvironment, 'environment'>, settings: Settings): Secrets {
  const { secretsDirectory: directory, dataDirectory, redisUrl } = settings;
  return loadSecrets({ directory, environment, dataDirectory, redisUrl });
}

/** Opens the key store that commands and the gateway share. Rejects with a sentence if it cannot be opened. */
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
