// The errors between a command and a remote gateway, as sentences with the id of the request and a remedy.

import { isRecord } from '../../shared/is-record.ts';
import { visibleLine } from '../../shared/text.ts';

/** Maximum number of characters that are shown of a text from a server. If the server is not a gateway, the text may be of any length. */
const FOREIGN_MAX = 500;

interface ProblemFacts {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
}

/** An error whose message is for people, and contains nothing that controls a terminal. */
export class ServerProblem extends Error {
  /** The facts of the error object; empty if the answer contained none. */
  readonly answered: ProblemFacts;

  constructor(sentence: string, answered: ProblemFacts = {}) {
    super(sentence);
    this.answered = answered;
  }

  /** ` (404 resource_missing, request req_…)`; empty if nothing was answered. */
  get source(): string {
    const { status, code, requestId } = this.answered;
    const parts = [[status, code].filter(Boolean).join(' '), requestId && `request ${requestId}`].filter(Boolean);
    return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  }
}

/** Returns text from a server as one line of bounded length. */
export function foreign(text: unknown): string {
  const line = visibleLine(String(text)).trim();
  return line.length > FOREIGN_MAX ? `${line.slice(0, FOREIGN_MAX)}…` : line;
}

type AnswerMembers = Readonly<Record<string, unknown>>;

/** Converts the error object of an answer to a problem. Returns undefined if it is not the error object of a gateway. */
export function refusalOf(server: string, status: number, body: AnswerMembers): ServerProblem | undefined {
  const { error } = body;
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') return undefined;
  const facts = { status, code: foreign(error.code), requestId: textOf(error.request_id) };
  const source = new ServerProblem('', facts).source;
  const says = foreign(error.message);
  const param = error.errors === undefined && textOf(error.param);
  const place = param ? ` (${param})` : '';
  const sentences = [`${server} refuses it${source}: ${says}${place}`, ...detailsOf(error), adviceOn(error)];
  return new ServerProblem(sentences.filter(Boolean).join(' '), facts);
}

/** Returns the violations of the contract in an answer. The command itself may have caused them. */
function detailsOf({ errors }: AnswerMembers): string[] {
  if (!Array.isArray(errors)) return [];
  return errors
    .filter(isRecord)
    .map((one) => `${[one.in, one.param].map(textOf).filter(Boolean).join(' ')}: ${foreign(one.message)}`);
}

const ADVICE: Readonly<Record<string, string>> = {
  key_mode_mismatch: 'Use a live key.',
  last_key: 'To revoke it all the same, add --allow-last.',
  route_not_found:
    'Either this is not the address of the API, or the gateway does not serve its own contract there: see docs/administration.md.',
  version_unknown:
    'Either this is not the address of the API, or the gateway does not serve its own contract there: see docs/administration.md.',
  misdirected_request: 'Use the host name of the API, or the one that the gateway has for its own contract.',
  tls_required: 'Use https in --server, and replace this key: it was sent unencrypted.',
  operation_unsupported: 'This gateway cannot do this yet: it may be an older version than this command.',
  idempotency_outcome_unknown: 'Look whether it has happened before you give the command again.',
};

function adviceOn({ code, type, required_scopes: scopes }: AnswerMembers): string | undefined {
  if (code === 'insufficient_scope') {
    const names = Array.isArray(scopes) ? scopes.map(foreign).join(', ') : '';
    return names === ''
      ? undefined
      : `Use a key that has ${names}: "*" does not include it. Without --org, a key works on its own organization.`;
  }
  if (typeof code === 'string' && Object.hasOwn(ADVICE, code)) return ADVICE[code];
  return type === 'authentication_error' ? 'Look at the key in GATEWAY_KEY or --key-file.' : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? foreign(value) : undefined;
}

/** Returns the problem of an answer that does not follow the contract. @param member the missing member */
export function otherContract(server: string, member: string): ServerProblem {
  return new ServerProblem(
    `${server} answers, but "${member}" is missing or of another kind: it has another version of the contract than this command, or is no gateway.`,
  );
}

const UNKNOWN_AUTHORITY =
  'no authority that this machine knows has signed it. Name the certificate of its authority in NODE_EXTRA_CA_CERTS';

const TLS_REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet; is the clock of this machine right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for other names',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_REVOKED: 'it was revoked',
};

const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host name',
  EAI_AGAIN: 'the host name cannot be looked up at the moment',
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no way to this network',
  EACCES: 'this machine may not connect there',
  EPROTO: 'both sides do not agree on TLS',
};

/** Returns the problem for a failure before the request was sent. Nothing was changed, and a retry would fail in the same way. */
export function unsentProblem(
  server: string,
  { code = '', message }: NodeJS.ErrnoException,
): ServerProblem | undefined {
  if (/wrong version number|packet length too long/i.test(message))
    return new ServerProblem(
      `${server} cannot be reached (${code}): it does not speak TLS. Is it an address for http?`,
    );
  const ofCertificate = TLS_REASONS[code];
  if (ofCertificate !== undefined)
    return new ServerProblem(`The certificate of ${server} is not accepted (${code}): ${ofCertificate}.`);
  const reason = CONNECTION_REASONS[code] ?? (code.startsWith('ERR_SSL_') ? 'TLS fails' : undefined);
  return reason === undefined ? undefined : new ServerProblem(`${server} cannot be reached (${code}): ${reason}.`);
}
