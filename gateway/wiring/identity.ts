// Opens the parts that identify callers, by API keys, tokens and sessions, and the keys that sign assertions to upstreams.

import { hostname } from 'node:os';
import type { DigestOf } from '../auth/api-key.ts';
import type { Assertions } from '../auth/assertions/assertions.ts';
import { followAssertionKeys } from '../auth/assertions/follow-assertion-keys.ts';
import type { CredentialReaders } from '../auth/authenticate.ts';
import type { MatchesBasic } from '../auth/basic.ts';
import { Directory, type DirectoryStatus } from '../auth/directory.ts';
import type { KeyStore, KeyStoreChange } from '../auth/store/key-store.ts';
import { createIssuers, type Issuers } from '../auth/tokens/issuers.ts';
import { createTokenReader } from '../auth/tokens/token-reader.ts';
import { type CallerOfTunnel, createCallerOfTunnel } from '../auth/tunnel-caller.ts';
import type { GatewayFile } from '../config/gateway/gateway-file.ts';
import type { Secrets } from '../config/secrets.ts';
import { type Configuration, scopeRulesOf } from '../configuration.ts';
import type { Admitted } from '../exchange/exchange.ts';
import type { Log } from '../observe/log/log.ts';
import { evictionPolicyAt } from '../redis/server-info.ts';
import type { SessionOrganizations, SessionReader } from '../sessions/session-reader.ts';

interface IdentityOptions {
  readonly gateway: GatewayFile;
  readonly secrets: Secrets;
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
  readonly assertions: Assertions;
  readonly log: Log;
  /** Address of the key store; undefined if the store is embedded. */
  readonly redisUrl: string | undefined;
  inForce(): Configuration;
  now(): number;
  readonly matchesBasic: MatchesBasic;
  /** Makes the reader of sessions, which needs the directory of organizations; undefined if people cannot sign in. */
  readonly sessionReaderOf: ((organizations: SessionOrganizations) => SessionReader) | undefined;
  /** Called when the signing keys have changed, or another key becomes the signing key. */
  onAssertionKeys(): void;
  onChange(change: KeyStoreChange): void;
  /** Called when the contents of the key store were replaced. */
  onReplaced(): void;
}

export interface Identity {
  /** The readers of credentials for the stage `authenticate`. */
  readonly readers: CredentialReaders;
  /** Whether the credentials of a request are cached as valid; asks no store. */
  isKnownCaller(admitted: Admitted): boolean;
  /** Whether the key store has lost its contents, so that no key can be known. */
  readonly mayLackKeys: Directory['mayLackKeys'];
  readonly callerOfTunnel: CallerOfTunnel;
  /** The reader of session cookies; undefined if people cannot sign in. */
  readonly sessionReader: SessionReader | undefined;
  readonly organizationOf: Directory['organizationOf'];
  readonly keysStatus: () => DirectoryStatus;
  readonly issuersStatus: Issuers['status'];
  /** Resolves after the first fetch of every issuer's keys, or after a short timeout. */
  ready(): Promise<void>;
  /** Closes everything except the key store. */
  close(): Promise<void>;
}

/** Starts to follow assertion keys, API keys and issuers' keys. */
export function openIdentity(options: IdentityOptions): Identity {
  const { gateway, secrets, log, now } = options;
  const stopFollowing = followSigningKeys(options);
  const directory = openDirectory(options);
  const issuers = openIssuers(options);
  const { cacheMax } = gateway.keys;
  const scopeRules = () => scopeRulesOf(options.inForce());
  const tokens = createTokenReader({ issuers, directory, scopeRules, cacheMax, now });
  const sessionReader = options.sessionReaderOf?.(directory);
  warnOfSecretsInRedis(secrets, log);
  if (options.redisUrl !== undefined) void warnOfEviction(options.redisUrl, log);

  return {
    readers: {
      directory,
      readToken: tokens.readToken,
      matchesBasic: options.matchesBasic,
      readSession: sessionReader && ((asking) => sessionReader.read(asking)),
    },
    sessionReader,
    organizationOf: (id) => directory.organizationOf(id),
    callerOfTunnel: createCallerOfTunnel({ directory, readToken: tokens.readToken, now }),
    isKnownCaller(admitted) {
      const { headers } = admitted;
      // User name and password are never treated as known, because they can only be checked by a comparison, and a throttled address could
      // continue to guess with this function.
      const authorization = headers.get('authorization');
      if (authorization === undefined) return sessionReader?.isKnown(admitted) === true;
      return directory.isKnown(authorization) || tokens.isKnown(authorization);
    },
    mayLackKeys: () => directory.mayLackKeys(),
    keysStatus: () => directory.status(),
    issuersStatus: issuers.status,
    ready: issuers.ready,
    async close() {
      issuers.close();
      stopFollowing();
      await directory.close();
    },
  };
}

/** Returns the function that stops following. */
function followSigningKeys({ secrets, assertions, log, onAssertionKeys }: IdentityOptions): () => void {
  return followAssertionKeys({
    async read() {
      // Restores secrets that Redis has lost. If the assertion keys are in the secrets store, reading them does not read Redis, and no
      // other code would notice the loss.
      await secrets.restoreLost();
      return secrets.assertionKeys();
    },
    async use(keys) {
      await assertions.useKeys(keys);
      onAssertionKeys();
    },
    onFailure: (reason) =>
      log.logger.error({ reason }, 'the assertion keys cannot be reloaded; the last ones stay in use'),
  });
}

function openDirectory({ gateway, store, digestOf, log, now, onChange, onReplaced }: IdentityOptions): Directory {
  return new Directory({
    store,
    digestOf,
    host: hostname(),
    pid: process.pid,
    now,
    positiveMax: gateway.keys.cacheMax,
    negativeMax: gateway.keys.unknownCacheMax,
    graceMs: gateway.keys.graceSeconds * 1000,
    onChange,
    onReplaced() {
      log.logger.error('the key store was wiped, restored, or has lost changes; every key is looked up anew');
      onReplaced();
    },
    onHealth(reason) {
      if (reason === undefined) log.logger.info('the key store can be read again');
      else
        log.logger.error(
          { reason },
          'the key store cannot be read; cached keys are accepted until the grace period ends, other keys are refused with 503',
        );
    },
  });
}

function openIssuers({ gateway, log, now }: IdentityOptions): Issuers {
  return createIssuers({
    issuers: gateway.issuers,
    now,
    onHealth(issuer, reason) {
      if (reason === undefined) log.logger.info({ issuer }, 'the keys of an issuer can be read again');
      else log.logger.warn({ issuer, reason }, 'the keys of an issuer cannot be read; the last ones stay in use');
    },
  });
}

function warnOfSecretsInRedis(secrets: Secrets, log: Log): void {
  const entries = secrets.foundInRedis();
  if (entries.length === 0) return;
  log.logger.warn({ entries }, 'Redis holds secrets that the gateway generated; move them to the secrets store');
}

/** Warns if Redis deletes data when its memory is full. Never rejects. */
async function warnOfEviction(redisUrl: string, log: Log): Promise<void> {
  const policy = await evictionPolicyAt(redisUrl);
  if (policy === undefined) return;
  log.logger.warn(
    { maxmemory_policy: policy },
    'Redis evicts when its memory is full: organizations, keys and revocations disappear; set maxmemory-policy noeviction',
  );
}
