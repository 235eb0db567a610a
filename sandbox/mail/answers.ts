// Every shape in which the mail server answers, and the one place that writes an answer to the wire. Success and
// business failures are both 200; problem documents come in three kinds.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';

export interface MailAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
}

/** Thrown where a request cannot go on: the answer to send instead. */
export class Refused extends Error {
  readonly answer: MailAnswer;

  constructor(answer: MailAnswer) {
    super(`answered ${answer.status}`);
    this.answer = answer;
  }
}

const PROBLEM = 'application/problem+json';
const LIMIT = 'urn:ietf:params:jmap:error:limit';
const REALM = 'Stalwart Server';
const CHALLENGES = { 'www-authenticate': [`Bearer realm="${REALM}"`, `Basic realm="${REALM}"`] };
const SLOW_DOWN = 'Too many requests came in a short time. Try again later.';

export function json(status: number, value: unknown): MailAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

export const html = (body: string): MailAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
});

export const redirect = (location: string): MailAnswer => ({ status: 307, headers: { location }, body: '' });

/** The answer of the HTTP library itself: no type, no body. */
export const bareAnswer = (status: number): MailAnswer => ({ status, headers: {}, body: '' });

export const data = (value: unknown): MailAnswer => json(200, { data: value });

type ManagementError = 'notFound' | 'fieldAlreadyExists' | 'fieldMissing' | 'unsupported' | 'other';

/** A business failure: status 200 all the same. */
export function failure(error: ManagementError, members: Readonly<Record<string, string | null>>): Refused {
  return new Refused(json(200, { error, ...members }));
}

export const notFound = (item: string): Refused => failure('notFound', { item });

/** `reason` is free text, and like the real server's it repeats the input. */
export const other = (details: string, reason: string | null): Refused => failure('other', { details, reason });

export function problem(status: number, title: string, detail: string, headers: MailAnswer['headers'] = {}): Refused {
  return new Refused({
    status,
    headers: { 'content-type': PROBLEM, ...headers },
    body: JSON.stringify({ type: 'about:blank', status, title, detail }),
  });
}

/** The server's second generator of problem documents, which has only the phrase of the status. */
export function phrased(status: number): MailAnswer {
  const phrase = STATUS_CODES[status] ?? '';
  return problem(status, phrase, phrase).answer;
}

/** A problem document of JMAP (RFC 8620, section 3.6.1): with a type of its own and without a title. */
export function requestError(type: 'notJSON' | 'notRequest' | 'unknownCapability', detail: string): Refused {
  return withoutTitle(`urn:ietf:params:jmap:error:${type}`, detail, {});
}

type Limit = 'maxConcurrentRequests' | 'maxSizeRequest' | 'maxSizeUpload' | 'maxCallsInRequest' | 'maxConcurrentUpload';

/** A limit is 400 with a `limit` member, never 429 or 503. */
export function limited(limit: Limit): Refused {
  return withoutTitle(LIMIT, `The request exceeds the limit ${limit}.`, { limit });
}

function withoutTitle(type: string, detail: string, members: Readonly<Record<string, string>>): Refused {
  const body = JSON.stringify({ type, status: 400, detail, ...members });
  return new Refused({ status: 400, headers: { 'content-type': PROBLEM }, body });
}

/** The body is the same for every fault; only the two challenges distinguish some causes. */
export function unauthorized(challenged: boolean): Refused {
  return problem(401, 'Unauthorized', 'You have to authenticate first.', challenged ? CHALLENGES : {});
}

export const invalidParameters = (detail = 'JSON deserialization failed'): Refused =>
  problem(400, 'Invalid parameters', detail);

export const forbidden = (): Refused =>
  problem(403, 'Forbidden', 'You do not have enough permissions to perform this operation.');

export const noSuchResource = (): Refused => problem(404, 'Not Found', 'There is no such resource on this server.');

export const codeRequired = (): Refused =>
  problem(402, 'TOTP code required', 'This account needs a TOTP code to authenticate.');

export const tenantQuotaExceeded = (): Refused =>
  problem(403, 'Tenant quota exceeded', 'Your organization has used up its quota.');

export const tooManyRequests = (): Refused => problem(429, 'Too Many Requests', SLOW_DOWN);

export const tooManyAttempts = (): Refused => problem(429, 'Too Many Authentication Attempts', SLOW_DOWN);

export const internalError = (): Refused =>
  problem(500, 'Internal Server Error', 'The request could not be processed.');

/** A body that was not read to its end takes the connection with it. */
export function sendMailAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: MailAnswer,
): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(body);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (!response.hasHeader('content-length')) response.setHeader('content-length', bytes.length);
  if (announcesBody(request) && !request.complete) response.setHeader('connection', 'close');
  response.writeHead(status);
  response.end(bytes);
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
