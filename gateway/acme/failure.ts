// The errors of an attempt to get a certificate. The kind of an error decides when the next attempt begins.

/**
 * `server`: the server cannot be reached or fails, which delays all certificates. `refused`: the server refused the order, or a challenge
 * failed. `limited`: a rate limit of the server.
 */
export type FailureKind = 'server' | 'refused' | 'limited';

interface AcmeFailureOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  /** The last part of the problem type (RFC 8555 section 6.7), such as `badNonce`. */
  readonly type?: string | undefined;
}

export class AcmeFailure extends Error {
  readonly kind: FailureKind;
  readonly retryAfterMs: number | undefined;
  readonly type: string | undefined;

  /** @param sentence for operators */
  constructor(kind: FailureKind, sentence: string, options: AcmeFailureOptions = {}) {
    super(sentence, options);
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.type = options.type;
  }
}

/** The store cannot be reached. The work ends, and no failure is recorded. */
export class StoreAway extends Error {}

/** The records were sealed with another `certificate_key`. */
export class WrongSeal extends Error {}

/** Thrown if a later holder has taken the lease. This instance stops its work, and changes nothing. */
export class LeaseLost extends Error {
  constructor() {
    super('Another instance orders the certificates now.');
  }
}
