// People who have signed in: their sessions are put into the store of a gateway before it starts, so that no provider is needed.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashOf } from '../../gateway/sessions/cookies.ts';
import { openRedisSessionStore } from '../../gateway/sessions/store/redis/redis-session-store.ts';
import { SESSION_KEYS, SESSION_KEYS_PURPOSE } from '../../gateway/sessions/store/session-keys.ts';
import { createSqliteSessionStore } from '../../gateway/sessions/store/sqlite/sqlite-session-store.ts';
import { createKeyRing } from '../../gateway/shared/stores/seal.ts';
import type { GatewayOptions } from '../contestants/gateway.ts';
import type { Surroundings } from '../contestants.ts';

const PROVIDER = 'staff';
const A_DAY_MS = 86_400_000;
const A_DAY_SECONDS = A_DAY_MS / 1000;
/** As tokens of usual providers are long. */
const TOKEN = randomBytes(600).toString('base64url');

/** What a gateway needs so that people can be signed in at it, with a limit for each of them. */
export function withPeople(port: number): Required<Pick<GatewayOptions, 'gateway' | 'limits' | 'entry' | 'upstreams'>> {
  const provider = {
    // It is never asked.
    issuer: 'http://127.0.0.1:9',
    clientId: 'gateway',
    authentication: { method: 'client_secret_basic', secret: 'session_client' },
    organization: { claim: 'org' },
    grants: [{ scopes: ['customers:read'] }, { claim: 'roles', value: 'dispatcher', scopes: ['customers:write'] }],
  };
  const providers = { [PROVIDER]: provider };
  return {
    gateway: {
      // A proxy in front has ended TLS, as in production: the cookie has its usual name.
      publicUrl: `https://127.0.0.1:${port}`,
      sessions: { providers, idleSeconds: A_DAY_SECONDS, absoluteSeconds: A_DAY_SECONDS },
    },
    limits: { persons: { requests: 1_000_000, windowSeconds: 60 } },
    entry: { security: { sessions: true } },
    upstreams: { session: { contracts: ['session/*.yaml'], live: 'session:' } },
  };
}

interface Surrounded extends Pick<Surroundings, 'directory'> {
  /** Absent: embedded stores. */
  readonly redisUrl: string | undefined;
  /** `session_keys`. */
  readonly secret: string;
}

/** Signs one person of each organization in, and gives the values of their cookies. */
export async function signIn(organizations: readonly string[], { directory, redisUrl, secret }: Surrounded) {
  const keys = createKeyRing(() => [secret], SESSION_KEYS_PURPOSE);
  const store =
    redisUrl === undefined
      ? createSqliteSessionStore({ directory: join(directory, 'data'), acceptOneWay: true, now: Date.now, keys })
      : await openRedisSessionStore({ url: redisUrl, keys });
  const cookies: string[] = [];
  for (const [index, organization] of organizations.entries()) {
    const value = randomBytes(32).toString('base64url');
    const session = {
      id: `ses_${String(index).padStart(20, '0')}`,
      hash: hashOf(value),
      provider: PROVIDER,
      subject: `${randomBytes(8).toString('hex')}-${index}`,
      providerSid: randomBytes(16).toString('hex'),
      organization,
      claims: { org: organization, roles: ['dispatcher'], name: 'Ada Vandermeer', email: 'ada@example.com' },
      device: 'Firefox on Linux',
      idleMs: A_DAY_MS,
      livesMs: A_DAY_MS,
    };
    const tokens = { accessToken: TOKEN, refreshToken: TOKEN, idToken: TOKEN, accessLivesMs: A_DAY_MS };
    await store.create(session, tokens, { begunAtMs: await store.nowMs(), perPersonMax: 20 });
    cookies.push(value);
  }
  await store.close();
  return cookies;
}

export const SESSION_KEYS_VARIABLE = SESSION_KEYS.toUpperCase();
