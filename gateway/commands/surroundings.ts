// What start and check need of the process they run in, and how the key store is opened.

import { createDigestOf, fingerprintOf } from '../auth/api-key.ts';
import { createSqliteStore } from '../auth/sqlite-store.ts';
import type { Settings } from '../config/load.ts';
import { loadSecrets, type Secrets } from '../config/secrets.ts';
import type { OpenStore } from './context.ts';

export interface Surroundings {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  now(): number;
  /** Standard output. */
  write(text: string): void;
  /** Standard error. */
  complain(text: string): void;
  exit(code: number): never;
  /** Called with the wish to end: SIGTERM or SIGINT. */
  onSignal(handle: () => void): void;
}

export function openSecrets({ environment }: Pick<Surroundings, 'environment'>, settings: Settings): Secrets {
  return loadSecrets({ directory: settings.secretsDirectory, environment, dataDirectory: settings.dataDirectory });
}

/** The store every command and the gateway itself work on. Rejects with a sentence when it cannot be opened. */
export async function openKeyStore(
  surroundings: Pick<Surroundings, 'environment' | 'now'>,
  settings: Settings,
): Promise<OpenStore> {
  const digestOf = createDigestOf(openSecrets(surroundings, settings).keyPepper());
  const store = createSqliteStore({
    directory: settings.dataDirectory,
    pepperFingerprint: fingerprintOf(digestOf),
    now: surroundings.now,
  });
  return { store, digestOf };
}
