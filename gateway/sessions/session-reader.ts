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

/** The caller that was read from a session, and the `asOf` of its organization. */
interface Reading {
  readonly caller: Caller;
  asOf: number | undefined;
}

export class SessionReader {
  readonly #options: SessionReaderOptions;
  readonly #readings = new WeakMap<Session, Reading>();
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
    const { live } = this.#options;
    const fresh = andThen(this.#use(hashOf(value)), (used) => (used === undefined ? 'ended' : live.fresh(used)));
    return andThen(fresh, (session) => {
      if (session === 'ended') throw new GatewayError('session_expired');
      if (session === 'away') throw new GatewayError('provider_unavailable');
      return this.#callerOf(session);
    });
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

  #use(hash: string): Awaitable<Session | undefined> {
    try {
      const used = this.#options.live.use(hash);
      return used instanceof Promise ? used.catch((cause) => Promise.reject(storeAway(cause))) : used;
    } catch (cause) {
      throw storeAway(cause);
    }
  }

  #callerOf(session: Session): Awaitable<Caller> {
    const { organizations } = this.#options;
    // `asOf` is read before the organization. If the organization changes between the two reads, the next request notices by `asOf` that
    // this caller is out of date.
    const asOf = organizations.asOf();
    const cached = this.#readings.get(session);
    if (asOf !== undefined && cached?.asOf === asOf) return cached.caller;
    return andThen(organizations.organizationOf(session.organization), (organization) => {
      const reading = this.#readings.get(session);
      if (organization !== undefined && reading?.caller.organization === organization) {
        reading.asOf = asOf;
        return reading.caller;
      }
      const caller = this.#newCaller(session, organization);
      this.#readings.set(session, { caller, asOf });
      return caller;
    });
  }

  #newCaller(session: Session, organization: Organization | undefined): Caller {
    const { providers } = this.#options;
    const rules = Object.hasOwn(providers, session.provider) ? providers[session.provider] : undefined;
    // The provider is no longer in the configuration, or the organization no longer in the store.
    if (organization === undefined || rules === undefined) throw new GatewayError('session_expired');
    const caller: Caller = Object.freeze({
      subject: session.subject,
      scheme: 'session',
      issuer: session.provider,
      organization,
      mode: 'live',
      scopes: scopesIn(session.claims, rules),
      revoked: false,
      expiresAtMs: session.endsAtMs,
      allowsAddress: undefined,
      session: session.id,
      memory: newCallerMemory(),
    });
    this.#sessions.set(caller, session);
    return caller;
  }
}
