// The first parts of the process, which depend on no other part: the configuration in force and its secrets, the lock of the data
// directory, the clocks and the state of the process.

import type { GatewayFile } from '../../config/gateway/gateway-file.ts';
import type { Configuration } from '../../configuration.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { Lifecycle } from '../../observe/admin/status.ts';
import { createForwardClock } from '../../shared/machine.ts';
import { ConfigError } from '../../shared/mistakes.ts';
import { lockDirectory } from '../../shared/stores/sqlite.ts';
import type { AppOptions } from '../app-options.ts';
import { checkSecrets } from '../named-secrets.ts';
import type { Parts } from '../parts.ts';

export interface BaseSection {
  inForce(): Configuration;
  /** Epoch milliseconds. */
  inForceSinceMs(): number;
  /** gateway.yaml of the start. A reload does not change the keys of config/differences.ts; for others, see `inForce`. */
  readonly gateway: GatewayFile;
  /** The clock of windows, which never goes back. Expiry times use the wall clock. */
  forwardNow(): number;
  lifecycle(): Lifecycle;
  isDraining(): boolean;
  onLifecycle(next: Lifecycle): void;
}

/** Throws ConfigError for missing secrets, and a sentence if another gateway holds the data directory. */
export function openBase({ configuration: first, settings, secrets, now }: AppOptions, parts: Parts): BaseSection {
  let inForce = first;
  let inForceSinceMs = now();
  parts.add({
    name: 'configuration',
    apply(next) {
      inForce = next;
      inForceSinceMs = now();
    },
  });

  const isShared = settings.redisUrl !== undefined;
  const secretsOf = (next: Configuration) => Object.values(checkSecrets(next, secrets.read, isShared)).flat();
  parts.add({ name: 'secrets', check: secretsOf });
  const mistakes = parts.check(first);
  if (mistakes.length > 0) throw new ConfigError(mistakes);

  // Without Redis, only this process has the counters. A second gateway on the same directory would count from zero, and admit each limit
  // twice.
  if (settings.redisUrl === undefined)
    parts.add({ name: 'directory lock', close: lockDirectory(settings.dataDirectory) });

  let lifecycle: Lifecycle = 'starting';
  return {
    inForce: () => inForce,
    inForceSinceMs: () => inForceSinceMs,
    gateway: first.config.gateway,
    forwardNow: createForwardClock(now),
    lifecycle: () => lifecycle,
    isDraining: () => lifecycle === 'draining',
    onLifecycle(next: Lifecycle) {
      lifecycle = next;
    },
  };
}

export function operationsServed({ contracts }: Configuration): Operation[] {
  return contracts.operations.map(({ operation }) => operation);
}
