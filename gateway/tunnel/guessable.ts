// Pure: finds the credentials of tunnelled requests that clients can guess. Failed logins are counted only with these, because a token that
// cannot be guessed fails whenever it has expired.

import type { Admitted } from '../exchange/exchange.ts';

const BEARER = /^bearer[ \t]+/i;
/**
 * The form of a Bearer token (RFC 6750 section 2.1). A credential with another form is treated as guessable, because a service may read it
 * as a password.
 */
const TOKEN_FORM = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * @param passwordTokens beginnings of Bearer tokens that hold a user name and a password
 * @returns a function that returns the credential of a request if it can be guessed, which excludes only Bearer tokens with other
 * beginnings
 */
export function createGuessable(
  passwordTokens: readonly string[],
): (admitted: Pick<Admitted, 'headers'>) => string | undefined {
  // The beginnings are compared without regard to case, because the service may ignore case.
  const beginnings = passwordTokens.map((text) => text.toLowerCase());

  function isPassword(token: string): boolean {
    const text = token.toLowerCase();
    return !TOKEN_FORM.test(token) || beginnings.some((beginning) => text.startsWith(beginning));
  }

  return function guessableIn({ headers }) {
    const credential = headers.get('authorization');
    const scheme = credential === undefined ? null : BEARER.exec(credential);
    if (credential === undefined || scheme === null) return credential;
    return isPassword(credential.slice(scheme[0].length)) ? credential : undefined;
  };
}
