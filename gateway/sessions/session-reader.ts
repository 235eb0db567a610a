// Reads the credential kind "session", a cookie that the gateway has set at a login. Throws cross_site_request, session_expired,
// session_store_unavailable or provider_unavailable.

import { GatewayError } from '../catalogue/errors.ts';
import type { Caller, Organization } from '../exchange/caller.ts';
import { newCallerMemory } from '../exchange/caller-memory.ts';
import type { Admitted } from '../exchange/exchange.ts';
import { type Awaitable, andThen } from '../shared/awaitable.ts';
import { hashOf, sessionValueIn } from './cookies.ts';
import { type CrossSiteRules, isCrossSite } from './cross-site.ts';
import { scopesIn } from './grants.ts';
import type { KnownSession } from './live/known-sessions.ts';
import type { LiveSessions } from './live/live-sessions.ts';
import type { OriginOf } from './origins.ts';
import type { ProviderSettings } from './settings.ts';
import type { Session } from './store/session-store.ts';
import { storeAway } from './store-away.ts';

interface SessionReaderOptions {
  readonly live: Pick<LiveSessions, 'find' | 'use' | 'isKnown' | 'fresh'>;
  readonly originOf: OriginOf;
  readonly crossSite: CrossSiteRules;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly organizations: SessionOrganizations;
}

/** The access to organizations that sessions need. */
export interface SessionOrganizations {
  /** Returns an organization, as the same object until it changes; undefined if it is unknown. Throws auth_unavailable. */
  organizationOf(id: string): Awaitable<Organization | undefined>;
  /** Returns a number that changes with the organizations; undefined while cached organizations may be too old. */
  asOf(): number | undefined;
}

type SessionRequest = Pick<Admitted, 'headers' | 'method' | 'scheme'>;

export class SessionReader {
  readonly #options: SessionReaderOptions;
  readonly #sessions = new WeakMap<Caller, Session>();

  constructor(options: SessionReaderOptions) {
    this.#options = options;
  }

  /**
   * Returns the caller of a session cookie, as the same object until the session or the organization changes; undefined without a cookie.
   */
  read(request: SessionRequest): Awaitable<Caller> | undefined {
    const value = this.#valueIn(request);
    if (value === undefined) return undefined;
    if (isCrossSite(request, this.#options.crossSite)) throw new GatewayError('cross_site_request');
    return andThen(this.#use(hashOf(value)), (found) => this.#callerOf(found));
  }

  /**
   * Returns the session of a request; undefined if the request has none, or if the session has ended. Does not check which page made the
   * request, so use it only for a navigation that changes nothing.
   */
  async find(request: SessionRequest): Promise<Session | undefined> {
    const value = this.#valueIn(request);
    return value === undefined ? undefined : await this.#options.live.find(hashOf(value));
  }

  /** Whether the session of a request is cached and has not ended. Does not read the store. */
  isKnown(request: SessionRequest): boolean {
    const value = this.#valueIn(request);
    return value !== undefined && this.#options.live.isKnown(hashOf(value));
  }

  /** Returns the session from which a caller was read. */
  sessionOf(caller: Caller): Session {
    return this.#sessions.get(caller) as Session;
  }

  #valueIn(request: SessionRequest): string | undefined {
    const cookies = request.headers.get('cookie');
    const served = cookies === undefined ? undefined : this.#options.originOf(request);
    return served && sessionValueIn(cookies as string, served.isSecure);
  }

  #use(hash: string): Awaitable<KnownSession | undefined> {
    try {
      const found = this.#options.live.use(hash);
      return found instanceof Promise ? found.catch((cause) => Promise.reject(storeAway(cause))) : found;
    } catch (cause) {
      throw storeAway(cause);
    }
  }

  #callerOf(found: KnownSession | undefined): Awaitable<Caller> {
    if (found === undefined) throw new GatewayError('session_expired');
    return andThen(this.#options.live.fresh(found.session), (fresh) => this.#callerOfFresh(found, fresh));
  }

  #callerOfFresh(known: KnownSession, fresh: Session | 'ended' | 'away'): Awaitable<Caller> {
    if (fresh === 'ended') throw new GatewayError('session_expired');
    if (fresh === 'away') throw new GatewayError('provider_unavailable');
    const { organizations } = this.#options;
    const { reading } = known;
    // `asOf` is read before the organization. If the organization changes between the two reads, the next request notices by `asOf` that
    // this caller is out of date.
    const asOf = organizations.asOf();
    if (asOf !== undefined && reading?.asOf === asOf && reading.session === fresh) return reading.caller;
    return andThen(organizations.organizationOf(fresh.organization), (organization) =>
      this.#callerFrom(known, fresh, organization, asOf),
    );
  }

  #callerFrom(
    known: KnownSession,
    session: Session,
    found: Organization | undefined,
    asOf: number | undefined,
  ): Caller {
    const { providers } = this.#options;
    const { reading } = known;
    if (found !== undefined && reading?.session === session && reading.caller.organization === found) {
      reading.asOf = asOf;
      return reading.caller;
    }
    const rules = Object.hasOwn(providers, session.provider) ? providers[session.provider] : undefined;
    // The provider is no longer in the configuration, or the organization no longer in the store.
    if (found === undefined || rules === undefined) throw new GatewayError('session_expired');
    const caller: Caller = Object.freeze({
      subject: session.subject,
      scheme: 'session',
      issuer: session.provider,
      organization: found,
      mode: 'live',
      scopes: scopesIn(session.claims, rules),
      revoked: false,
      expiresAtMs: session.endsAtMs,
      allowsAddress: undefined,
      session: session.id,
      memory: newCallerMemory(),
    });
    this.#sessions.set(caller, session);
    known.reading = { session, caller, asOf };
    return caller;
  }
}
