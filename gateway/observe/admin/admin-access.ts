// Decides what a request may do at the admin listener. A request with `admin_token` may change things, and a request with `viewer_token`
// may read. Operators with names have the rights in their line. Pages of other sites may do nothing. Pure.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

type Role = 'admin' | 'viewer';

export interface AdminTokens {
  readonly admin: string | undefined;
  readonly viewer: string | undefined;
  /** The tokens of operators with names. */
  readonly named: readonly { readonly name: string; readonly role: 'look' | 'act'; readonly token: string }[];
}

export interface AdminRefusal {
  readonly status: 401 | 403 | 415 | 421;
  readonly body: { readonly code: string; readonly error: string };
}

/** The rights of an operator, which the console shows. */
interface AdminSession {
  readonly role: Role;
  /** The name of the operator in the audit log; null if the request had no token. */
  readonly name: string | null;
  /** Whether the request had one of the tokens; false on loopback without a token. */
  readonly has_token: boolean;
  /** Whether any token is allowed to act. Otherwise the console offers no changes. */
  readonly can_act: boolean;
}

interface AdminRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/** A page of another origin cannot send this header without a preflight, which is never allowed. */
const ACTION_HEADER = 'x-console-action';

const LOOPBACK_NAMES = new Set(['127.0.0.1', '[::1]', 'localhost']);
const READING = new Set(['GET', 'HEAD']);

export class AdminAccess {
  readonly #onLoopback: boolean;
  readonly #operators: readonly { readonly name: string; readonly role: Role; readonly digest: Buffer | undefined }[];
  readonly #canAct: boolean;
  readonly #tokens: AdminTokens;

  /** @param host bound address of the listener */
  constructor(host: string, tokens: AdminTokens) {
    this.#onLoopback = isLoopback(host);
    this.#tokens = tokens;
    this.#operators = [
      { name: 'admin_token', role: 'admin', digest: digestOf(tokens.admin) },
      { name: 'viewer_token', role: 'viewer', digest: digestOf(tokens.viewer) },
      ...tokens.named.map(({ name, role, token }) => ({
        name,
        digest: digestOf(token),
        role: role === 'act' ? ('admin' as const) : ('viewer' as const),
      })),
    ];
    this.#canAct = this.#operators.some(({ role, digest }) => role === 'admin' && digest !== undefined);
  }

  /**
   * Refuses requests of pages of other origins, and requests for a foreign host name. Without this check, a foreign page in an operator's
   * browser could use the listener. It could use a host name that resolves to the listener (DNS rebinding), or a form, an image or a
   * request whose answer it cannot read.
   */
  refuseStranger({ method, headers }: AdminRequest): AdminRefusal | undefined {
    const { origin } = headers;
    const name = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
    if (this.#onLoopback && !LOOPBACK_NAMES.has(name))
      return refusal(421, 'misdirected', 'This host name is not the admin listener.');
    const isOwn = origin === undefined || origin === `http://${headers.host}` || origin === `https://${headers.host}`;
    if (!isOwn || isFromOtherSite(method, headers))
      return refusal(403, 'foreign_origin', 'Pages of other origins may not use this.');
    return undefined;
  }

  refuseReading(headers: IncomingHttpHeaders): AdminRefusal | undefined {
    if (this.#onLoopback || this.#roleOf(headers) !== undefined) return undefined;
    return refusal(
      401,
      'token_required',
      'A token of an operator is required: admin_token, viewer_token or one of operator_tokens.',
    );
  }

  /**
   * Refuses a change by a command without the right token. On loopback without a configured token, every user of the machine may make
   * changes.
   */
  refuseWriting(headers: IncomingHttpHeaders): AdminRefusal | undefined {
    const role = this.#roleOf(headers);
    if (role === 'admin') return undefined;
    if (role === 'viewer') return onlyLooks();
    return this.#onLoopback && !this.#canAct ? undefined : missing();
  }

  /**
   * Refuses a change by the console without the right token, which is needed on loopback, too, or without the header that no page of
   * another origin can send.
   */
  refuseActing(headers: IncomingHttpHeaders): AdminRefusal | undefined {
    const role = this.#roleOf(headers);
    if (role === 'viewer') return onlyLooks();
    if (!this.#canAct)
      return refusal(403, 'admin_token_unset', 'The console only looks, because there is no secret admin_token.');
    if (role === undefined) return missing();
    return formProblem(headers);
  }

  /**
   * Refuses a question of the console that has a body and changes nothing, if it lacks the header that no page of another origin can send.
   */
  refuseTrying(headers: IncomingHttpHeaders): AdminRefusal | undefined {
    return this.refuseReading(headers) ?? formProblem(headers);
  }

  sessionOf(headers: IncomingHttpHeaders): AdminSession {
    const { role = 'viewer', name = null } = this.#operatorOf(headers) ?? {};
    return { role, name, has_token: name !== null, can_act: this.#canAct };
  }

  /** Returns the name of the operator for the audit log; undefined without a token. */
  nameOf(headers: IncomingHttpHeaders): string | undefined {
    return this.#operatorOf(headers)?.name;
  }

  /** Returns the name of an operator with a named token; undefined for the two tokens without a name. */
  ownNameOf(headers: IncomingHttpHeaders): string | undefined {
    const name = this.#operatorOf(headers)?.name;
    return this.#tokens.named.find((one) => one.name === name)?.name;
  }

  #operatorOf({ authorization }: IncomingHttpHeaders) {
    if (authorization === undefined) return undefined;
    const given = digestOf(authorization.replace(/^Bearer +/i, '')) as Buffer;
    // The comparison covers all tokens, even after a match, because the time must reveal nothing about a token.
    return this.#operators.filter(({ digest }) => isEqual(given, digest))[0];
  }

  #roleOf(headers: IncomingHttpHeaders): Role | undefined {
    return this.#operatorOf(headers)?.role;
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/**
 * Whether a browser sent the request for a page of another site, by the headers of Fetch Metadata. A link on another site may open the
 * console.
 */
function isFromOtherSite(method: string, headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return false;
  const isOpened = READING.has(method) && headers['sec-fetch-mode'] === 'navigate';
  return site === 'none' ? !READING.has(method) : !isOpened;
}

function formProblem(headers: IncomingHttpHeaders): AdminRefusal | undefined {
  if (headers[ACTION_HEADER] !== undefined && isJson(headers['content-type'])) return undefined;
  return refusal(415, 'form_unknown', `An action is JSON with the header ${ACTION_HEADER}.`);
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/json *(;|$)/i.test(contentType ?? '');
}

function missing(): AdminRefusal {
  return refusal(401, 'token_required', 'The admin token is required, or that of an operator who may act.');
}

function onlyLooks(): AdminRefusal {
  return refusal(
    403,
    'admin_token_required',
    'This token only looks: this needs the admin token, or that of an operator who may act.',
  );
}

function refusal(status: AdminRefusal['status'], code: string, error: string): AdminRefusal {
  return { status, body: { code, error } };
}

function digestOf(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : createHash('sha256').update(text).digest();
}

function isEqual(given: Buffer, digest: Buffer | undefined): boolean {
  return timingSafeEqual(given, digest ?? NO_DIGEST) && digest !== undefined;
}

/** Replaces the digest of a token that is not configured. */
const NO_DIGEST = Buffer.alloc(32);
