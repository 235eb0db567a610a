// Every possible answer of the mail server to the five operations, and the client's answer to each.

import type { ErrorCode } from '../../../gateway/catalogue/errors.ts';
import { SECRET } from '../../support/errors.ts';
import { httpAnswer, type Script } from '../../support/scripted-upstream.ts';

export type Operation = 'list' | 'create' | 'get' | 'update' | 'delete';

interface AnswerCase {
  readonly name: string;
  readonly operations: readonly Operation[];
  readonly plays: Script;
  readonly code: ErrorCode;
  /** Where it is not the code's own. */
  readonly status?: number;
  /** Members of the error object beyond its common ones. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** The text that the client may read; by default that of the catalogue. */
  readonly message?: string;
  /** How often the mail server gets the request; once by default. */
  readonly asked?: number;
  /** And how often if the method is idempotent. */
  readonly askedIfIdempotent?: number;
}

const every: readonly Operation[] = ['list', 'create', 'get', 'update', 'delete'];
const writes: readonly Operation[] = ['create', 'update'];
const bodiless: readonly Operation[] = ['list', 'get', 'delete'];

export const created = { name: 'Dana', emails: ['dana@example.com'], memberOf: ['Support'] };
export const changes = [
  { action: 'addItem', field: 'emails', value: 'dana@example.com' },
  { action: 'addItem', field: 'memberOf', value: 'Support' },
];

const says = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Script => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (socket) => socket.write(httpAnswer(status, text, headers));
};
const failure = (error: string, members: object = {}): Script =>
  says(200, { error, ...members }, { 'Content-Type': 'application/json; charset=utf-8' });
const problem = (
  status: number,
  title: string,
  members: object = {},
  headers: Record<string, readonly string[]> = {},
) =>
  says(
    status,
    { type: 'about:blank', status, title, detail: SECRET, ...members },
    {
      'Content-Type': 'application/problem+json',
      ...headers,
    },
  );
const limit = (name: string): Script => {
  const body = { type: 'urn:ietf:params:jmap:error:limit', status: 400, detail: SECRET, limit: name };
  return says(400, body, { 'Content-Type': 'application/problem+json' });
};
/** The answer of the HTTP library: no body and no media type. */
const bare =
  (status: number): Script =>
  (socket) => {
    socket.end(`HTTP/1.1 ${status} Whatever\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  };
const page = (status: number): Script =>
  says(status, `<html>${SECRET}</html>`, { 'Content-Type': 'text/html; charset=utf-8' });
const challenges = ['Bearer realm="Stalwart Server"', 'Basic realm="Stalwart Server"'];
const phrase = (status: number, words: string) => problem(status, words, { detail: words });

/** Status 200, and yet a failure. */
const failures: readonly AnswerCase[] = [
  {
    name: 'notFound of the requested principal',
    operations: ['get', 'update', 'delete'],
    plays: failure('notFound', { item: 'dana' }),
    code: 'resource_missing',
  },
  {
    name: 'notFound without an item',
    operations: ['get', 'delete'],
    plays: failure('notFound', { item: '' }),
    code: 'resource_missing',
  },
  {
    name: 'notFound of a domain, on create',
    operations: ['create'],
    plays: failure('notFound', { item: 'example.com' }),
    code: 'reference_missing',
    members: { param: 'emails[0]', item: 'example.com' },
  },
  {
    name: 'notFound of a group, on create',
    operations: ['create'],
    plays: failure('notFound', { item: 'support' }),
    code: 'reference_missing',
    members: { param: 'memberOf[0]', item: 'support' },
  },
  {
    name: 'notFound of a domain, on update',
    operations: ['update'],
    plays: failure('notFound', { item: 'example.com' }),
    code: 'reference_missing',
    members: { param: '[0].value', item: 'example.com' },
  },
  {
    name: 'notFound of a group, on update',
    operations: ['update'],
    plays: failure('notFound', { item: 'support' }),
    code: 'reference_missing',
    members: { param: '[1].value', item: 'support' },
  },
  {
    name: 'notFound again and again, on list',
    operations: ['list'],
    plays: failure('notFound', { item: SECRET }),
    code: 'upstream_unavailable',
    asked: 2,
  },
  {
    name: 'fieldAlreadyExists of the name',
    operations: writes,
    plays: failure('fieldAlreadyExists', { field: 'name', value: SECRET }),
    code: 'already_exists',
    members: { param: 'name' },
  },
  {
    name: 'fieldAlreadyExists of an address',
    operations: writes,
    plays: failure('fieldAlreadyExists', { field: 'emails', value: SECRET }),
    code: 'already_exists',
    members: { param: 'emails' },
  },
  {
    name: 'fieldMissing',
    operations: ['create'],
    plays: failure('fieldMissing', { field: 'name' }),
    code: 'validation_failed',
    members: { param: 'name' },
  },
  {
    name: 'unsupported',
    operations: [...writes, 'list'],
    plays: failure('unsupported', { details: 'Enterprise feature' }),
    code: 'operation_unsupported',
    message: 'Enterprise feature',
  },
  {
    name: 'assertFailed',
    operations: writes,
    plays: failure('assertFailed'),
    code: 'upstream_rejected',
    status: 422,
  },
  ...[
    'Invalid parameters',
    'Invalid role',
    'Invalid permission',
    'Invalid principal name',
    'Invalid field',
    'Invalid email',
    'Invalid email address',
    'Invalid members value',
    'Invalid lists value',
    'Invalid roles value',
    'Invalid enabledPermissions value',
    'Invalid disabledPermissions value',
    'Not a tenant',
    'License account limit reached',
  ].map(
    (details): AnswerCase => ({
      name: `other: ${details}`,
      operations: writes,
      plays: failure('other', { details, reason: `String("${SECRET}")` }),
      code: 'upstream_rejected',
      status: 422,
      message: details,
    }),
  ),
  {
    // In a change the name of a field is text that was submitted, like any other.
    name: 'other: Invalid memberOf value',
    operations: ['create'],
    plays: failure('other', { details: 'Invalid memberOf value', reason: null }),
    code: 'upstream_rejected',
    status: 422,
    message: 'Invalid memberOf value',
  },
  ...['Tenant has members', 'Domain has members'].map(
    (details): AnswerCase => ({
      name: `other: ${details}`,
      operations: ['delete'],
      plays: failure('other', { details, reason: null }),
      code: 'upstream_rejected',
      status: 422,
      message: details,
    }),
  ),
  {
    name: 'other that quotes the request',
    operations: writes,
    plays: failure('other', { details: 'Invalid parameter dana@example.com', reason: SECRET }),
    code: 'upstream_rejected',
    status: 422,
  },
  {
    name: 'other that quotes the name in the path',
    operations: ['delete'],
    plays: failure('other', { details: 'DANA has members', reason: null }),
    code: 'upstream_rejected',
    status: 422,
  },
  {
    name: 'a failure of another name',
    operations: every,
    plays: failure('unsupportedDirectoryOperation', { class: SECRET, details: SECRET }),
    code: 'upstream_bad_response',
  },
];

const problems: readonly AnswerCase[] = [
  {
    name: "400 Invalid parameters for the client's input",
    operations: writes,
    plays: problem(400, 'Invalid parameters'),
    code: 'upstream_rejected',
  },
  {
    name: "400 Invalid parameters for the gateway's own input",
    operations: bodiless,
    plays: problem(400, 'Invalid parameters'),
    code: 'upstream_bad_response',
  },
  {
    name: '401 without a challenge',
    operations: every,
    plays: problem(401, 'Unauthorized'),
    code: 'upstream_auth_failed',
  },
  {
    name: '401 with two challenges',
    operations: every,
    plays: problem(401, 'Unauthorized', {}, { 'WWW-Authenticate': challenges }),
    code: 'upstream_auth_failed',
  },
  {
    name: '402 for a second factor',
    operations: every,
    plays: problem(402, 'TOTP code required'),
    code: 'upstream_auth_failed',
  },
  { name: '403 for a permission', operations: every, plays: problem(403, 'Forbidden'), code: 'upstream_auth_failed' },
  {
    name: '403 for a banned client address',
    operations: every,
    plays: phrase(403, 'Forbidden'),
    code: 'upstream_rejected',
    status: 403,
  },
  { name: '403 without a body', operations: every, plays: bare(403), code: 'upstream_auth_failed' },
  { name: '403 for a quota', operations: writes, plays: problem(403, 'Quota exceeded'), code: 'quota_exceeded' },
  {
    name: '403 for the quota of a tenant',
    operations: writes,
    plays: problem(403, 'Tenant quota exceeded'),
    code: 'quota_exceeded',
  },
  {
    name: '404, the answer of release 0.16',
    operations: every,
    plays: problem(404, 'Not Found'),
    code: 'upstream_bad_response',
  },
  {
    name: '429 for too many requests',
    operations: every,
    plays: problem(429, 'Too Many Requests'),
    code: 'upstream_overloaded',
    members: { retry_after: 60 },
  },
  {
    name: '429 for too many failed logins',
    operations: every,
    plays: problem(429, 'Too Many Authentication Attempts'),
    code: 'upstream_overloaded',
    members: { retry_after: 60 },
  },
  { name: '500', operations: every, plays: problem(500, 'Internal Server Error'), code: 'upstream_error' },
  { name: '503', operations: every, plays: phrase(503, 'Service Unavailable'), code: 'upstream_unavailable' },
  ...['maxConcurrentRequests', 'maxSizeRequest', 'maxSizeUpload', 'maxCallsInRequest', 'maxConcurrentUpload'].map(
    (name): AnswerCase => ({
      name: `400 with the limit ${name}`,
      operations: every,
      plays: limit(name),
      code: 'upstream_overloaded',
      members: { retry_after: 2 },
    }),
  ),
];

const others: readonly AnswerCase[] = [
  ...[400, 414, 431].map(
    (status): AnswerCase => ({
      name: `${status} of its HTTP library`,
      operations: every,
      plays: bare(status),
      code: 'upstream_bad_response',
    }),
  ),
  { name: 'the page of its panel', operations: every, plays: page(200), code: 'upstream_bad_response' },
  { name: 'a page of a proxy in between with 502', operations: every, plays: page(502), code: 'upstream_bad_response' },
  { name: 'a page of a proxy in between with 504', operations: every, plays: page(504), code: 'upstream_timeout' },
  {
    name: 'a page of a proxy in between with 413',
    operations: writes,
    plays: page(413),
    code: 'upstream_rejected',
    status: 413,
  },
  {
    name: 'neither data nor an error',
    operations: every,
    plays: says(200, { other: SECRET }),
    code: 'upstream_bad_response',
  },
  { name: 'a list instead of an object', operations: every, plays: says(200, [SECRET]), code: 'upstream_bad_response' },
  { name: 'half an object', operations: every, plays: says(200, '{"data":nul'), code: 'upstream_bad_response' },
  { name: 'nothing at all with 200', operations: every, plays: bare(200), code: 'upstream_bad_response' },
  {
    name: 'a connection that is closed, as to a banned address',
    operations: every,
    plays: (socket) => socket.destroy(),
    code: 'upstream_bad_response',
    askedIfIdempotent: 3,
  },
];

export const answerCases: readonly AnswerCase[] = [...failures, ...problems, ...others];
