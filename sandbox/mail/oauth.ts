// The device grant of OAuth (RFC 8628): codes are handed out, stay pending until a user approves them, and become a token. Failures have
// the OAuth shape, whose member `error` has nothing to do with that of `/api`.
import { randomBytes } from 'node:crypto';
import { json, type MailAnswer } from './answers.ts';
import { lastOf } from './query.ts';

export interface OAuth {
  /** `POST /auth/device` */
  device(form: URLSearchParams, origin: string): MailAnswer;
  /** `POST /auth/token` */
  token(form: URLSearchParams): MailAnswer;
  /** `POST /api/oauth`: a user approves the code that a client shows. False: no client awaits it. */
  approve(userCode: string, user: string): boolean;
  /** Whose token it is. */
  userOf(token: string): string | undefined;
  /** `GET /auth/jwks.json`: as the real server does by default, the symmetric key that signs tokens. */
  keys(): MailAnswer;
}

interface Pending {
  readonly untilMs: number;
  readonly client: string;
  readonly userCode: string;
  /** Who has approved it. */
  readonly user?: string;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const GRANTS: readonly string[] = [DEVICE_GRANT, 'authorization_code', 'refresh_token'];
const LIFETIME_SECONDS = 1800;
const PENDING_MAX = 1000;

export function createOAuth(now: () => number): OAuth {
  /** When each code expires, in milliseconds, and for which client it is; oldest first. */
  const pending = new Map<string, Pending>();
  /** The user of each token, oldest first. */
  const tokens = new Map<string, string>();

  const k = randomBytes(32).toString('base64url');

  return {
    approve(userCode, user) {
      const asked = [...pending].find(([, one]) => one.userCode === userCode && one.untilMs > now());
      if (asked) pending.set(asked[0], { ...asked[1], user });
      return asked !== undefined;
    },
    userOf: (token) => tokens.get(token),
    keys: () => json(200, { keys: [{ kty: 'oct', use: 'sig', kid: 'default', alg: 'HS256', k }] }),
    device(form, origin) {
      const client = lastOf(form, 'client_id');
      if (client === undefined) return refusal('invalid_request');
      const oldest = pending.size >= PENDING_MAX ? pending.keys().next().value : undefined;
      if (oldest !== undefined) pending.delete(oldest);
      const [code, userCode] = [randomBytes(24).toString('base64url'), randomBytes(4).toString('hex').toUpperCase()];
      pending.set(code, { untilMs: now() + LIFETIME_SECONDS * 1000, client, userCode });
      return json(200, {
        device_code: code,
        user_code: userCode,
        verification_uri: `${origin}/authorize`,
        verification_uri_complete: `${origin}/authorize/?code=${userCode}`,
        expires_in: LIFETIME_SECONDS,
        interval: 5,
      });
    },
    token(form) {
      const [grant, client] = [lastOf(form, 'grant_type'), lastOf(form, 'client_id')];
      if (grant === undefined || client === undefined) return refusal('invalid_request');
      if (!GRANTS.includes(grant)) return refusal('unsupported_grant_type');
      const asked = grant === DEVICE_GRANT ? pending.get(lastOf(form, 'device_code') ?? '') : undefined;
      if (asked?.client !== client) return refusal('invalid_grant');
      if (asked.user !== undefined && asked.untilMs > now()) {
        pending.delete(lastOf(form, 'device_code') ?? '');
        const token = randomBytes(32).toString('base64url');
        if (tokens.size >= PENDING_MAX) tokens.delete(tokens.keys().next().value as string);
        tokens.set(token, asked.user);
        return json(200, { access_token: token, token_type: 'bearer', expires_in: LIFETIME_SECONDS });
      }
      return refusal(asked.untilMs > now() ? 'authorization_pending' : 'expired_token');
    },
  };
}

const refusal = (error: string): MailAnswer => json(400, { error });
