// Sessions for tests of their stores.

import { createHash, randomBytes } from 'node:crypto';
import type {
  IssuedTokens,
  LoginBounds,
  NewSession,
  Session,
  SessionStore,
} from '../../../gateway/sessions/store/session-store.ts';
import { createKeyRing, type KeyRing } from '../../../gateway/shared/stores/seal.ts';

export const SECRET = 'a secret that seals the tokens of tests';
export const ring: KeyRing = createKeyRing(() => [SECRET], 'tests of sessions');

let count = 0;

export function newSession(changes: Partial<NewSession> = {}): NewSession & { readonly cookie: string } {
  count += 1;
  const cookie = randomBytes(32).toString('base64url');
  return {
    cookie,
    id: `ses_${String(count).padStart(6, '0')}`,
    hash: createHash('sha256').update(cookie).digest('base64url'),
    provider: 'main',
    subject: `person ${count}`,
    providerSid: `sid ${count}`,
    organization: `org_${count}`,
    claims: { roles: ['reader'], name: 'Ada "é" O’Neil' },
    device: 'Firefox on Linux',
    idleMs: 60_000,
    livesMs: 3_600_000,
    ...changes,
  };
}

export function tokens(name = 'first', changes: Partial<IssuedTokens> = {}): IssuedTokens {
  const of = (kind: string) => `${kind}-token-${name}-${'x'.repeat(40)}`;
  return {
    accessToken: of('access'),
    refreshToken: of('refresh'),
    idToken: of('id'),
    accessLivesMs: 300_000,
    ...changes,
  };
}

export async function boundsAt(store: SessionStore, changes: Partial<LoginBounds> = {}): Promise<LoginBounds> {
  return { begunAtMs: await store.nowMs(), perPersonMax: 10, ...changes };
}

/** Signs in. */
export async function signIn(
  store: SessionStore,
  changes: Partial<NewSession> = {},
  issued = tokens(),
): Promise<Session> {
  const session = await store.create(newSession(changes), issued, await boundsAt(store));
  if (session === undefined) throw new Error('The login was refused.');
  return session;
}
