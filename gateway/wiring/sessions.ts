// Opens the sessions of people who sign in with a browser, the providers that they sign in with, and the operations under /session.

import { randomBytes } from 'node:crypto';
import type { GatewayFile } from '../config/gateway/gateway-file.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import type { Forwardable } from '../exchange/exchange.ts';
import type { Log } from '../observe/log/log.ts';
import { markOf } from '../portal/look.ts';
import { LiveSessions } from '../sessions/live/live-sessions.ts';
import type { Brand } from '../sessions/login/pages.ts';
import { createTransactions } from '../sessions/login/transaction.ts';
import { createOriginOf } from '../sessions/origins.ts';
import { Provider } from '../sessions/provider/provider.ts';
import type { ProviderRefreshes } from '../sessions/refresh/refresher.ts';
import type { SessionAnswer } from '../sessions/service/answer.ts';
import { createOperatorSessions, type OperatorSessions } from '../sessions/service/operators.ts';
import { createSessionService } from '../sessions/service/service.ts';
import { type SessionOrganizations, SessionReader } from '../sessions/session-reader.ts';
import type { SessionSettings } from '../sessions/settings.ts';
import { SESSION_KEYS, SESSION_KEYS_PURPOSE, sessionKeysOf } from '../sessions/store/session-keys.ts';
import type { Session, SessionStore } from '../sessions/store/session-store.ts';
import { createKeyRing, type KeyRing } from '../shared/stores/seal.ts';
import type { Identity } from './identity.ts';

interface SessionsOptions {
  readonly gateway: GatewayFile;
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly log: Log;
  inForce(): Configuration;
  now(): number;
}

export interface SessionServices {
  readonly execute: (exchange: Forwardable) => Promise<SessionAnswer>;
  readonly operators: OperatorSessions;
}

export interface Sessions {
  readerOf(organizations: SessionOrganizations): SessionReader;
  /** Returns the services that execute the operations under /session, and the actions of operators on sessions. */
  servicesOf(identity: Identity): SessionServices;
  /** Calls back once, within a second of the end of a session on any instance. Returns a function that ends the watch. */
  onEnded(session: Session, listener: () => void): () => void;
  status(): { readonly sessions: object };
  close(): Promise<void>;
}

/** Opens the sessions; undefined if people cannot sign in. Rejects with an Error for operators if the store cannot be opened. */
export async function openSessions(options: SessionsOptions): Promise<Sessions | undefined> {
  const { gateway, settings, secrets, log, inForce, now } = options;
  const configured = gateway.sessions;
  if (configured === undefined) return undefined;
  const origins = configured.origins ?? [gateway.publicUrl];
  warnOfPlainOrigins(origins, log);
  // Keys that the gateway itself has made are read once, because they never change. `secrets.read` finds keys in the secrets store at each
  // reload.
  const made = settings.redisUrl === undefined ? await secrets.readOrMake(SESSION_KEYS) : '';
  const keys = createKeyRing(() => sessionKeysOf(secrets.read(SESSION_KEYS) ?? made), SESSION_KEYS_PURPOSE);
  const store = await openStore(settings, now, keys);
  const providers = providersOf(configured, secrets, now);
  const onProviderFailure = (provider: string, what: string, reason: string) =>
    log.logger.warn({ provider, reason }, `the provider of sessions did not execute a ${what}`);
  const live = new LiveSessions({
    store,
    ...refreshesAt(providers, onProviderFailure),
    max: gateway.keys.cacheMax,
    onHealth(reason) {
      if (reason === undefined) log.logger.info('the session store can be read again');
      else
        log.logger.error({ reason }, 'the session store cannot be read; requests with a session are refused with 503');
    },
  });
  const originOf = createOriginOf(origins);
  const randomText = () => randomBytes(32).toString('base64url');
  const transactions = createTransactions(keys, randomText);
  const deps = { settings: configured, providers, store, live, originOf, randomText, onProviderFailure, transactions };
  const crossSite = { origins: new Set(origins), requestHeader: configured.requestHeader };

  return {
    readerOf: (organizations) =>
      new SessionReader({ live, originOf, organizations, providers: configured.providers, crossSite }),
    servicesOf({ sessionReader, organizationOf }) {
      const reader = sessionReader as SessionReader;
      const all = { ...deps, organizationOf, reader, brand: createBrand(inForce) };
      return { execute: createSessionService(all), operators: createOperatorSessions(all) };
    },
    onEnded: (session, listener) => live.onEnded(session, listener),
    status: () => ({ sessions: live.status() }),
    async close() {
      await live.close();
      await store.close();
    },
  };
}

/**
 * Opens the session store: Redis if one is configured, otherwise a file in the data directory. If Redis cannot be reached, waits only for
 * the first attempt to connect.
 */
async function openStore(settings: Settings, now: () => number, keys: KeyRing): Promise<SessionStore> {
  const { redisUrl: url, dataDirectory: directory, acceptOneWay } = settings;
  if (url === undefined) {
    const { createSqliteSessionStore } = await import('../sessions/store/sqlite/sqlite-session-store.ts');
    return createSqliteSessionStore({ directory, acceptOneWay, now, keys });
  }
  const { openRedisSessionStore } = await import('../sessions/store/redis/redis-session-store.ts');
  return openRedisSessionStore({ url, keys });
}

type OnProviderFailure = (provider: string, what: string, reason: string) => void;

/** Returns what refreshes do at the provider of each session. */
function refreshesAt(
  providers: ReadonlyMap<string, Provider>,
  onProviderFailure: OnProviderFailure,
): ProviderRefreshes {
  return {
    async redeem(session, tokens, redemption) {
      const provider = providers.get(session.provider);
      return provider === undefined ? { kind: 'ended' } : provider.redeem(session, tokens, redemption);
    },
    reuseMsOf: ({ provider }) => (providers.get(provider)?.settings.refreshReuseSeconds ?? 0) * 1000,
    discard: (session, tokens) =>
      void providers
        .get(session.provider)
        ?.revoke(tokens)
        .then((reason) => reason && onProviderFailure(session.provider, 'revocation', reason)),
    onFailure: ({ provider }, reason) => onProviderFailure(provider, 'refresh', reason),
  };
}

/**
 * Returns the name and the mark of the documentation, for the pages of a login. If the documentation has a logo instead of a mark, the
 * pages show only the name, because they must not load a file.
 */
function createBrand(inForce: () => Configuration): () => Brand | undefined {
  const made = new WeakMap<Configuration, Brand>();
  return () => {
    const configuration = inForce();
    const name = configuration.config.gateway.portal.title;
    if (name === undefined) return undefined;
    const brand = made.get(configuration) ?? {
      name,
      mark: configuration.portalFiles.logo === undefined ? markOf(name) : undefined,
    };
    made.set(configuration, brand);
    return brand;
  };
}

function providersOf({ providers, absoluteSeconds }: SessionSettings, { read }: Secrets, now: () => number) {
  const all = Object.entries(providers).map(([name, settings]): [string, Provider] => {
    const { secret: entry } = settings.authentication;
    const readSecret = () => {
      const secret = read(entry);
      if (secret === undefined) throw new Error(`there is no secrets entry "${entry}"`);
      return secret;
    };
    return [name, new Provider({ name, settings, absoluteSeconds, readSecret, now })];
  });
  return new Map(all);
}

function warnOfPlainOrigins(origins: readonly string[], log: Log): void {
  const plain = origins.filter((origin) => origin.startsWith('http:'));
  if (plain.length === 0) return;
  log.logger.warn(
    { origins: plain },
    'sessions are used without TLS: their cookies have a name that browsers do not guard; for trying out on this machine only',
  );
}
