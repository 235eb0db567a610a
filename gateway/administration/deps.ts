// What actions need of the process. A command has a part of it; each action names its part.

import type { DigestOf } from '../auth/api-key.ts';
import type { RandomBytes } from '../auth/base62.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { Configuration } from '../configuration.ts';
import type { LimitUsage } from '../limits/usage.ts';
import type { ExchangeFilter, ExchangeLine } from '../shared/exchange-filter.ts';
import type { Usage } from '../usage/usage.ts';

export interface AdministrationDeps {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  readonly randomBytes: RandomBytes;
  /** Epoch milliseconds. */
  now(): number;
  /** The configuration in force. */
  configuration(): Configuration;
  /** Since when it is in force, epoch milliseconds. */
  inForceSinceMs(): number;
  /** What organizations have used of their limits. */
  readonly limits: LimitUsage;
  /** What organizations have called. */
  readonly usage: Pick<Usage, 'page'>;
  /** The latest exchanges that the filter lets through, the newest first. */
  recent(filter: ExchangeFilter): Promise<readonly ExchangeLine[]>;
  /** Every exchange with this id or client request id; oldest first. */
  exchanges(id: string): Promise<readonly ExchangeLine[]>;
  /** State of the parts, as `/status` has it. */
  status(): object;
  /** Lets the refused credential of an upstream be tried again; undefined: no such upstream. */
  retryUpstream(upstream: string): Promise<object | undefined>;
  /** Deprecated operations with their callers. */
  deprecatedUses(): Promise<object>;
  /** The name of the instance: `host:port`. */
  readonly instance: string;
  /** Of the gateway. */
  readonly version: string;
}
