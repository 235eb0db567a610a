// The arguments of a gateway: its configuration, its secrets and its open stores, and its clock.

import type { DigestOf } from '../auth/api-key.ts';
import type { Assertions } from '../auth/assertions/assertions.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Environment, Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import type { LogOptions } from '../observe/log/log.ts';
import type { LoopProbe } from '../overload/pressure.ts';
import type { AskFleet } from '../shared/questions/fleet.ts';
import type { SandboxProcess } from '../upstream/sandbox/sandbox.ts';

export interface AppOptions {
  readonly version: string;
  readonly settings: Settings;
  readonly configuration: Configuration;
  /** The environment variables, which every reload of the configuration uses again. */
  readonly environment: Environment;
  readonly secrets: Secrets;
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  now(): number;
  /** Destination of log lines; standard output by default. */
  readonly logTo?: LogOptions['destination'];
  /** Measures the delay of the event loop; by default with a timer. */
  readonly probeLoop?: LoopProbe;
  /** The number of this worker. A worker opens no admin listener, because the primary process answers operators, through `operators`. */
  readonly worker?: number | undefined;
  /** Asks all processes of all instances through the primary, if this is a worker. Rejects if the primary does not answer. */
  readonly askPrimary?: AskFleet | undefined;
  /** TLS session ticket keys. All workers share them, so that a client can resume its session at any worker. */
  readonly ticketKeys?: Buffer | undefined;
  /** Runs after the listeners are open and before readiness turns on. */
  readonly prepare?: (tools: Preparation) => Promise<void>;
}

export interface Preparation {
  /** Present if an upstream is the sandbox. */
  readonly sandbox: SandboxProcess | undefined;
  /** Signs assertions for requests that the gateway itself sends on behalf of an organization. */
  readonly assertionOf: Assertions['assertionOf'];
}
