// The context of the work under the lease: settings, client, records and clock. Types only.

import type { Machine } from '../shared/machine.ts';
import type { TextSeal } from '../shared/stores/seal.ts';
import type { AcmeClient } from './acme-client.ts';
import type { Journal } from './journal.ts';

/** The settings of `tls.acme`. */
export interface AcmeSettings {
  /** The URL of the ACME directory. */
  readonly directory: string;
  readonly contacts: readonly string[];
  readonly challenge: 'tls-alpn-01' | 'http-01';
  readonly certificates: readonly (readonly string[])[];
  readonly externalAccount?: { readonly keyId: string; readonly secret: string } | undefined;
}

export interface Work {
  readonly settings: AcmeSettings;
  readonly client: AcmeClient;
  readonly journal: Journal;
  readonly seal: TextSeal;
  now(): number;
  /** Waits, and prolongs the lease meanwhile. */
  pause(ms: number): Promise<void>;
  readonly machine: Machine;
}
