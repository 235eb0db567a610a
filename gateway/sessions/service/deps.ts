// The dependencies of the operations under /session.

import type { Organization } from '../../exchange/caller.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import type { LiveSessions } from '../live/live-sessions.ts';
import type { Brand } from '../login/pages.ts';
import type { Transactions } from '../login/transaction.ts';
import type { OriginOf } from '../origins.ts';
import type { Provider } from '../provider/provider.ts';
import type { SessionReader } from '../session-reader.ts';
import type { SessionSettings } from '../settings.ts';
import type { SessionStore } from '../store/session-store.ts';

export interface SessionDeps {
  readonly settings: SessionSettings;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly store: Pick<SessionStore, 'nowMs' | 'create' | 'get' | 'list' | 'openTokens'>;
  /** Ends sessions, here at once, elsewhere within a second. */
  readonly live: Pick<LiveSessions, 'end' | 'endByProvider'>;
  readonly reader: SessionReader;
  readonly transactions: Transactions;
  readonly originOf: OriginOf;
  /** Returns the name and mark of the platform in the configuration in force; undefined if the platform has no name. */
  brand(): Brand | undefined;
  /** Throws auth_unavailable. */
  organizationOf(id: string): Awaitable<Organization | undefined>;
  /** Returns 32 random bytes in base64url. */
  randomText(): string;
  /** Call it when a request to a provider has failed for which no client waits. Operators learn of it. */
  onProviderFailure(provider: string, what: string, reason: string): void;
}
