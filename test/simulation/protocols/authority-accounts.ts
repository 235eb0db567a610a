// The accounts of the model of a certificate authority: found by their keys, which may be replaced (RFC 8555 section 7.3).

import { createPublicKey, hash, type JsonWebKey, type KeyObject, verify } from 'node:crypto';

interface Account {
  readonly jwk: JsonWebKey;
  readonly key: KeyObject;
}

export interface Jws {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

export class AuthorityAccounts {
  readonly #accounts = new Map<string, Account>();
  readonly #base: string;
  #count = 0;

  /** @param base the beginning of their URLs */
  constructor(base: string) {
    this.#base = base;
  }

  /** The URL of the account with this key. */
  find(jwk: JsonWebKey): string | undefined {
    const text = JSON.stringify(jwk);
    return [...this.#accounts].find(([, account]) => JSON.stringify(account.jwk) === text)?.[0];
  }

  open(jwk: JsonWebKey): string {
    const known = this.find(jwk);
    if (known !== undefined) return known;
    this.#count += 1;
    const url = `${this.#base}/${this.#count}`;
    this.changeKey(url, jwk);
    return url;
  }

  changeKey(url: string, jwk: JsonWebKey): void {
    this.#accounts.set(url, { jwk, key: createPublicKey({ key: jwk, format: 'jwk' }) });
  }

  has(url: string): boolean {
    return this.#accounts.has(url);
  }

  /** The authority has lost it. */
  forget(url: string): void {
    this.#accounts.delete(url);
  }

  /** Whether the present key of the account has signed it. */
  isSigned(url: string, jws: Jws): boolean {
    const key = this.#accounts.get(url)?.key;
    const signature = Buffer.from(jws.signature, 'base64url');
    const input = Buffer.from(`${jws.protected}.${jws.payload}`);
    return key !== undefined && verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, signature);
  }

  thumbprint(url: string): string {
    const { crv, kty, x, y } = this.#accounts.get(url)?.jwk ?? {};
    return hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url');
  }
}
