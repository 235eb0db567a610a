// The caller: the administrator, an account by name and password, or an API key. Answers 401 with or without the challenges, 402, 403 and
// the one 429 before a ban.
import { codeRequired, forbidden, type Refused, tooManyAttempts, unauthorized } from './answers.ts';
import type { Bans } from './bans.ts';
import { parseMailAuthorization, parsePair } from './credentials.ts';
import type { Principal, PrincipalType } from './fields.ts';
import { ALL_PERMISSIONS, type Permissions, permissionsOf } from './permissions.ts';
import type { Rates } from './rates.ts';
import { equal, judge, type SecretOutcome } from './secrets.ts';
import type { MailStore } from './store.ts';

/** Name and password of the administrator; the password as it is, never a hash. */
export interface Administrator {
  readonly user: string;
  readonly password: string;
}

export interface Account {
  /** 0 is the administrator, which is no principal. */
  readonly id: number;
  readonly name: string;
  readonly permissions: Permissions;
}

/**
 * @param alwaysChallenge Whether plain failures carry the challenges as well: everywhere but on `/api`.
 * @throws Refused
 */
export type Login = (authorization: string | undefined, address: string, alwaysChallenge: boolean) => Promise<Account>;

interface Parts {
  readonly store: MailStore;
  readonly bans: Bans;
  readonly rates: Rates;
  readonly now: () => number;
  administrator(): Administrator | undefined;
  /** Whose OAuth token it is. */
  userOf(token: string): string | undefined;
}

export function createLogin({ store, bans, rates, now, administrator, userOf }: Parts): Login {
  async function byPassword(name: string, password: string): Promise<Account | SecretOutcome> {
    const known = administrator();
    // The name that was sent is lower-cased and this one is not: with capitals it can never match.
    if (known?.user === name) return equal(known.password, password) ? administratorAccount(name) : 'wrong';
    return judged(name, 'individual', password);
  }

  async function judged(name: string, type: PrincipalType, secret: string): Promise<Account | SecretOutcome> {
    const principal = store.find(name);
    if (principal?.type !== type) return 'wrong';
    const outcome = await judge(principal.secrets, secret, now());
    return outcome === 'right' ? accountOf(principal) : outcome;
  }

  const accountOf = (principal: Principal): Account => ({
    id: principal.id,
    name: principal.name,
    permissions: permissionsOf(principal, store),
  });

  function refuse(outcome: SecretOutcome, name: string, address: string, alwaysChallenge: boolean): Refused {
    if (outcome === 'codeRequired') return codeRequired();
    if (outcome === 'unknownFormat') return unauthorized(true);
    return bans.failed(address, name) ? tooManyAttempts() : unauthorized(alwaysChallenge);
  }

  /** A name and a password again, so a wrong one counts as a failed login. */
  async function byKey(token: string, address: string): Promise<Account> {
    const pair = token.startsWith('api_') ? parsePair(token.slice(4)) : undefined;
    if (pair === undefined) throw unauthorized(true);
    const { name, password } = pair;
    const isKey = store.find(name)?.type === 'apiKey';
    const found = isKey ? await judged(name, 'apiKey', password) : await byPassword(name, password);
    if (typeof found !== 'object') throw refuse(found, name, address, true);
    return found;
  }

  async function byToken(token: string, address: string, isMail: boolean): Promise<Account> {
    const user = userOf(token);
    if (user !== undefined && administrator()?.user === user) return administratorAccount(user);
    const principal = user === undefined ? undefined : store.find(user);
    if (principal) return accountOf(principal);
    // An API key is for the administration alone.
    if (isMail) throw unauthorized(true);
    return byKey(token, address);
  }

  async function accountFor(header: string | undefined, address: string, always: boolean): Promise<Account> {
    const credentials = parseMailAuthorization(header);
    switch (credentials.kind) {
      case 'basic': {
        const found = await byPassword(credentials.name, credentials.password);
        if (typeof found !== 'object') throw refuse(found, credentials.name, address, always);
        return found;
      }
      case 'malformed':
        throw unauthorized(true);
      case 'bearer':
        rates.countAnonymous(address);
        return byToken(credentials.token, address, always);
      case 'none':
      case 'otherScheme':
        rates.countAnonymous(address);
        throw unauthorized(always || credentials.kind === 'otherScheme');
    }
  }

  return async function login(authorization, address, alwaysChallenge) {
    const account = await accountFor(authorization, address, alwaysChallenge);
    if (!account.permissions.has('authenticate')) throw forbidden();
    return account;
  };
}

function administratorAccount(name: string): Account {
  return { id: 0, name, permissions: ALL_PERMISSIONS };
}
