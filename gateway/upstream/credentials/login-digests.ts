// Recognizes the credential of an upstream when a client presents it by HTTP Basic.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Compares the login that a client presents with the login of a credential, in constant time. */
export class LoginDigests {
  /** A random key of this process, without which an attacker could choose the first bytes of a digest. */
  readonly #key = randomBytes(32);
  /**
   * Random digests that match no login. They are used if the credential is not a login, because each comparison must take the same time.
   */
  readonly #none = { user: randomBytes(32), password: randomBytes(32) };
  #own: { readonly user: Buffer; readonly password: Buffer } = this.#none;

  /** @param login undefined if clients cannot present the credential */
  use(login: { readonly user: string; readonly password: string } | undefined): void {
    this.#own = login
      ? { user: this.#digestOf(nameOf(login.user)), password: this.#digestOf(login.password) }
      : this.#none;
  }

  /**
   * Compares a login. Ignores the case of the user name, and spaces around it.
   *
   * @param isUsable false if the secret is missing now, so that no login matches
   */
  match(user: string, password: string, isUsable: boolean): boolean {
    const own = isUsable ? this.#own : this.#none;
    // Both digests, of equal length, are always compared, so that the time reveals neither which part was wrong nor how much of it was
    // right.
    const isUser = timingSafeEqual(this.#digestOf(nameOf(user)), own.user);
    const isPassword = timingSafeEqual(this.#digestOf(password), own.password);
    return isUser && isPassword;
  }

  #digestOf(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

function nameOf(user: string): string {
  return user.trim().toLowerCase();
}
