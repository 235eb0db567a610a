// The catalogue of refusals as data: status, message, meaning and remedy of every code. Every text that a client can read is here. Its
// length is that of the list. After a change, `npm run docs` writes docs/errors.md.

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error';

export interface CatalogueEntry {
  readonly status: number;
  readonly type: ErrorType;
  /** Decides log level and alert. */
  readonly blame: 'client' | 'upstream' | 'gateway';
  /** For developers; may change at any time. */
  readonly message: string;
  /** Why it happens. One line of Markdown. */
  readonly meaning: string;
  /** What the client should do. One line of Markdown; links begin with `/docs`. */
  readonly remedy: string;
  /** Whether sending the identical request again is safe and may succeed; `if_safe`: only idempotent methods and keyed writes. */
  readonly retryable: boolean | 'if_safe';
  /** The WWW-Authenticate challenge (RFC 6750 section 3.1): bare when no usable credential was presented. */
  readonly challenge?: 'bare' | 'invalid_token' | 'insufficient_scope';
  /** Seconds for Retry-After if the thrower gives none. */
  readonly retryAfterSeconds?: number;
  /** The connection is closed, because the rest of the request is not read. */
  readonly closes?: true;
  /** Further sentences, which a thrower selects by name. */
  readonly hints?: Readonly<Record<string, string>>;
}

type Group = Pick<CatalogueEntry, 'type' | 'blame' | 'retryable'>;
const request = { type: 'invalid_request_error', blame: 'client', retryable: false } as const satisfies Group;
const unauthenticated = { type: 'authentication_error', blame: 'client', retryable: false } as const satisfies Group;
const forbidden = { type: 'permission_error', blame: 'client', retryable: false } as const satisfies Group;
const absent = { type: 'not_found_error', blame: 'client', retryable: false } as const satisfies Group;
const conflict = { type: 'conflict_error', blame: 'client', retryable: false } as const satisfies Group;
const limited = { type: 'rate_limit_error', blame: 'client', retryable: true } as const satisfies Group;
const upstream = { type: 'api_error', blame: 'upstream', retryable: 'if_safe' } as const satisfies Group;
const gateway = { type: 'api_error', blame: 'gateway', retryable: true } as const satisfies Group;

/** One entry per code. Refusals send the message; the pages under /docs/errors and docs/errors.md show meaning and remedy. */
export const REFUSALS = {
  // Authentication
  api_key_missing: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message: 'No credentials were sent. Send an API key as "Authorization: Bearer <key>".',
    meaning: 'No `Authorization` header was sent.',
    remedy:
      'Send your key with every request: `Authorization: Bearer <key>`. See [authentication](/docs/guides/authentication).',
  },
  auth_scheme_unsupported: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message: 'This authorization scheme is not supported here. WWW-Authenticate names those that are.',
    meaning: 'The operation does not accept the scheme of the `Authorization` header, or this kind of credential.',
    remedy:
      'Write `Authorization: Bearer <key>`. The `WWW-Authenticate` headers of the answer name what the operation accepts.',
  },
  api_key_misplaced: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message:
      'An API key does not belong in the URL, where it ends up in logs. Replace this key and send the new one as a header.',
    meaning: 'A key was found in the URL. Replace it, since URLs end up in logs.',
    remedy: 'Have this key revoked and a new one made, then send that one in the `Authorization` header.',
  },
  authorization_ambiguous: {
    ...request,
    status: 400,
    message: 'The request carries more than one Authorization header.',
    meaning: 'There are several `Authorization` headers.',
    remedy: 'Send exactly one `Authorization` header. Often a library adds one of its own beside yours.',
  },
  api_key_malformed: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message:
      'This is not an API key of this platform: its form or checksum is wrong. Was it cut off when it was copied?',
    meaning: 'The credential is not a key: its length, form or checksum is wrong.',
    remedy: 'Copy the whole key again, without quotes or spaces around it. Keys begin with `sk_live_` or `sk_test_`.',
  },
  api_key_invalid: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This API key does not exist.',
    meaning: 'The key has the right form, and the gateway has no record of it.',
    remedy: 'Check that the key belongs to this platform and not to another one, or to another installation of it.',
  },
  api_key_revoked: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This API key has been revoked.',
    meaning: 'The key was revoked.',
    remedy: 'Use the key that replaced it. If there is none, ask the person who manages the keys of your organization.',
  },
  api_key_expired: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This API key has expired.',
    meaning: 'The key has expired.',
    remedy: 'Use the key that replaced it. If there is none, ask the person who manages the keys of your organization.',
  },
  token_invalid: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This token is not valid here.',
    hints: {
      issuer: 'Its issuer (iss) is not one that is accepted.',
      form: 'It is not a signed JSON Web Token of acceptable form and size.',
      algorithm: 'Its algorithm (alg) is not accepted.',
      key: 'The key it names (kid) is not one of its issuer.',
      signature: 'Its signature is wrong.',
      claims: 'A claim that is required is missing or malformed.',
      not_yet: 'It is not valid yet (nbf, iat).',
      organization: 'The organization it names does not exist.',
    },
    meaning: 'The token of an application is not accepted; the message says why. Another one of its issuer may be.',
    remedy:
      'Read the message, then get another token from its issuer. If that one is refused as well, the issuer or its claims are not what the gateway expects.',
  },
  token_expired: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This token has expired.',
    meaning: 'The token was good until its `exp`. Get another one from its issuer.',
    remedy: 'Get a new token from its issuer and send the request again with that.',
  },
  token_audience: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This token was issued for another audience (aud).',
    meaning: 'The token was issued for another audience than this gateway (`aud`).',
    remedy: 'Ask the issuer for a token whose audience is this API.',
  },
  basic_credentials_invalid: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message: 'The user name or the password is wrong.',
    meaning: 'The user name or the password of HTTP Basic is wrong, or they are not written as RFC 7617 says.',
    remedy: 'Correct user name and password. Do not try again and again: failed attempts are counted.',
  },
  auth_unavailable: {
    ...gateway,
    status: 503,
    retryAfterSeconds: 2,
    message: 'Credentials cannot be checked at the moment. Nothing was processed.',
    meaning: 'Keys and tokens that were not seen lately cannot be checked at the moment. It says nothing about them.',
    remedy: 'Wait as long as `Retry-After` says and send the request again. Do not replace the key.',
  },
  insufficient_scope: {
    ...forbidden,
    status: 403,
    challenge: 'insufficient_scope',
    message: 'These credentials lack a scope that the operation requires; required_scopes lists them.',
    meaning: 'The key lacks a scope; `required_scopes` lists what the operation requires.',
    remedy: 'Use a key that holds the scopes listed in `required_scopes`, or have one made.',
  },
  key_mode_mismatch: {
    ...forbidden,
    status: 403,
    message: 'This operation has no test mode, and test credentials never reach live data.',
    meaning: 'A test key was used where there is no test mode.',
    remedy: 'Use a live key for this operation, or leave it out of your tests.',
  },
  ip_not_allowed: {
    ...forbidden,
    status: 403,
    message: 'This API key may not be used from this network address.',
    meaning: 'The key may be used from certain addresses only, and this is not one of them.',
    remedy: 'Send the request from one of the addresses that the key is bound to, or have the list changed.',
  },
  account_inactive: {
    ...forbidden,
    status: 403,
    message: 'The organization that these credentials belong to is suspended.',
    meaning: 'The organization of the key is suspended.',
    remedy: 'Ask the operator of the platform why the organization is suspended. A new key does not help.',
  },

  // Routing
  route_not_found: {
    ...absent,
    status: 404,
    message: 'There is nothing at this path.',
    hints: { version_first: 'Paths begin with the version, without /api in front: /v1/customers.' },
    meaning: 'No operation has this path.',
    remedy: 'Compare the path with the [reference](/docs/reference): the version, the spelling, no slash at the end.',
  },
  resource_missing: {
    ...absent,
    status: 404,
    message: 'There is no such record.',
    meaning: 'The record does not exist, or belongs to another organization.',
    remedy:
      'Check the identifier, and that the key belongs to the organization and the mode (live or test) in which the record was created.',
  },
  version_unknown: {
    ...request,
    status: 404,
    message: 'There is no such API version; supported_versions lists those there are.',
    meaning: 'The path begins with a version that never existed; `supported_versions` lists those that do.',
    remedy: 'Use one of the versions in `supported_versions`.',
  },
  version_sunset: {
    ...request,
    status: 410,
    message: 'This version or operation has ended. The Link header names what follows it, and how to move on.',
    meaning:
      'The version or the operation has come to its announced end (`sunset`); `successor` and `Link` tell what follows it.',
    remedy: 'Move to what `successor` names; the `Link` header says how. See [versioning](/docs/guides/versioning).',
  },
  misdirected_request: {
    ...request,
    status: 421,
    message: 'This host name is not served here.',
    meaning: 'This host name is not served here. Look at the address that you call.',
    remedy: 'Call the host name that you were given. A proxy in between may have changed it.',
  },
  method_not_allowed: {
    ...request,
    status: 405,
    message: 'This method is not available on this path. The Allow header lists those that are.',
    meaning: 'The path exists, but not with this method; `Allow` and `allowed_methods` list those that do.',
    remedy: 'Use one of the methods in `allowed_methods`.',
  },
  method_not_implemented: {
    ...request,
    status: 501,
    message: 'This method is not known here.',
    meaning: 'The method is not one that the gateway knows.',
    remedy: 'Use a method of HTTP that the operation describes: GET, POST, PATCH, PUT or DELETE.',
  },
  not_acceptable: {
    ...request,
    status: 406,
    message: 'The Accept header rules out every media type this operation answers with.',
    meaning: '`Accept` rules out everything the operation answers with; see `available_media_types`.',
    remedy: 'Leave `Accept` out, or name one of `available_media_types` in it.',
  },
  unsupported_media_type: {
    ...request,
    status: 415,
    message: 'The body needs a Content-Type that the operation accepts. The Accept header of this answer lists them.',
    meaning: 'The body has no `Content-Type`, or one that the operation does not accept; see `accepted_media_types`.',
    remedy: 'Send a `Content-Type` from `accepted_media_types`, mostly `application/json`.',
  },
  unsupported_content_encoding: {
    ...request,
    status: 415,
    message: 'Compressed request bodies are not accepted.',
    meaning: 'The body is compressed.',
    remedy: 'Send the body without compression, and without `Content-Encoding`.',
  },
  unsupported_charset: {
    ...request,
    status: 415,
    message: 'Bodies are UTF-8; another charset is not accepted.',
    meaning: 'The body is declared to be something else than UTF-8.',
    remedy: 'Encode the body as UTF-8, and name that charset or none.',
  },
  body_too_large: {
    ...request,
    status: 413,
    closes: true,
    message: 'The body is larger than max_bytes.',
    meaning: 'The body is longer than `max_bytes`. The connection is closed.',
    remedy: 'Send less at once. `max_bytes` is the most that is taken in.',
  },
  uri_too_long: {
    ...request,
    status: 414,
    closes: true,
    message: 'The request target is too long.',
    meaning: 'The path and query are longer than `max_bytes`.',
    remedy: 'Shorten the query, or send fewer values at once.',
  },
  headers_too_large: {
    ...request,
    status: 431,
    closes: true,
    message: 'The header section is too large.',
    meaning: 'The headers are longer than `max_bytes` or more than `max_lines`.',
    remedy: 'Send fewer or shorter headers. Cookies and trace state are the usual reason.',
  },
  expectation_failed: {
    ...request,
    status: 417,
    closes: true,
    message: 'The only expectation that is understood is 100-continue.',
    meaning: 'An `Expect` header asks for something else than `100-continue`.',
    remedy: 'Leave the `Expect` header out.',
  },
  request_timeout: {
    ...request,
    status: 408,
    retryable: true,
    closes: true,
    message: 'The request did not arrive in time.',
    meaning: 'The request began but did not arrive completely in time.',
    remedy: 'Send the request again. If that happens often, look at the connection, or send smaller bodies.',
  },

  // Request content
  malformed_http: {
    ...request,
    status: 400,
    closes: true,
    message: 'The request is not well-formed HTTP/1.1.',
    meaning:
      'The message breaks the rules of HTTP/1.1, or could be read in more than one way. The connection is closed.',
    remedy:
      'Use a library that speaks HTTP, and build neither request line nor headers by hand. Open a new connection.',
  },
  http_version_not_supported: {
    ...request,
    status: 505,
    closes: true,
    message: 'This HTTP version is not supported; HTTP/1.1 is.',
    meaning: 'The request line names another version than HTTP/1.1 or 1.0.',
    remedy: 'Speak HTTP/1.1.',
  },
  malformed_path: {
    ...request,
    status: 400,
    message: 'The path has an invalid escape, an empty or dot segment, or an encoded separator.',
    meaning:
      'The path or query has an invalid escape, an empty or dot segment, an encoded separator, or a character that needs to be escaped.',
    remedy: 'Escape each part of the path and of the query by itself, and join them with single slashes.',
  },
  malformed_json: {
    ...request,
    status: 400,
    message: 'The body is not one well-formed JSON text in UTF-8.',
    meaning: 'The body is not exactly one JSON text in UTF-8; `byte_offset` is the place of the first error.',
    remedy: 'Let a library write the JSON, and send its text unchanged as UTF-8.',
  },
  malformed_form: {
    ...request,
    status: 400,
    message: 'The body is not a well-formed form.',
    meaning:
      'The body is not the form that its `Content-Type` says, or services could read it in more than one way; `byte_offset` is the place.',
    remedy: 'Let a library write the form and its `Content-Type`, with the boundary that it chose.',
    hints: {
      escape: 'Write it in UTF-8, and each escape as % with two hexadecimal digits.',
      semicolon: 'Write a semicolon as %3B.',
      boundary: 'Name one boundary of 1 to 70 characters in Content-Type, as RFC 2046 section 5.1.1 says.',
      delimiter: 'Only the parts may stand in it, and the delimiter only between them, after a CRLF.',
      part_headers: 'The headers of a part are lines of UTF-8 that end with CRLF, each name once, 8192 bytes at most.',
      disposition:
        'Each part needs Content-Disposition: form-data with a name, without escapes, and a plain file name.',
      nested: 'A part must not be of a multipart type: send each file as a part of the form.',
      encoding: 'Leave Content-Transfer-Encoding out.',
      unfinished: 'Its closing delimiter is missing.',
    },
  },
  duplicate_json_member: {
    ...request,
    status: 400,
    message: 'An object in the body has two members of the same name.',
    meaning: 'An object in the body names a member twice, also if it is spelled with escapes once.',
    remedy: 'Write each member of an object once.',
  },
  json_too_complex: {
    ...request,
    status: 400,
    message: 'The body is nested too deeply or has too many members.',
    meaning: 'The body is nested deeper than `max_depth` or has more members than `max_members`.',
    remedy: 'Send a flatter body. No operation needs this depth.',
  },
  request_too_complex: {
    ...request,
    status: 400,
    message: 'The request takes too long to be compared with the API contract.',
    meaning:
      'The contract describes a part of the request by alternatives, patterns or unique items that take too many steps to compare.',
    remedy:
      'Send less at once: fewer items, shorter texts, flatter objects. If the request is a usual one, tell support the `request_id`.',
  },
  body_missing: {
    ...request,
    status: 400,
    message: 'This operation requires a body.',
    meaning: 'The operation requires a body and none was sent.',
    remedy: 'Send the body that the [reference](/docs/reference) describes, with its `Content-Type`.',
  },
  validation_failed: {
    ...request,
    status: 400,
    message: 'The request does not match the API contract; errors lists each violation.',
    meaning: 'Path, query, headers or body do not match the contract; `errors` lists every violation with its place.',
    remedy:
      'Correct every entry of `errors`: each names the place (`in`, `param`, `pointer`), what is wrong (`code`) and the rule (`constraint`).',
  },
  invalid_cursor: {
    ...request,
    status: 400,
    message: 'The cursor does not belong to this list. Start again without cursor.',
    meaning: 'The cursor is broken, or was made for another list, filter or sort. Start again without it.',
    remedy:
      'Send the first request of the list again, and each `cursor` unchanged with the same filters and sort. See [pagination](/docs/guides/pagination).',
  },
  precondition_failed: {
    ...conflict,
    status: 412,
    message: 'The record changed in the meantime: a precondition of the request does not hold.',
    meaning: 'An `If-Match` or similar header does not hold: the record was changed in the meantime.',
    remedy: 'Read the record again, apply your change to what it is now, and send that with its new `ETag`.',
  },
  precondition_required: {
    ...request,
    status: 428,
    message: 'This change is only made on the condition that the record is as you know it: send If-Match.',
    meaning: 'The service behind the operation asks for an `If-Match` or similar header with this change.',
    remedy: 'Retrieve the record and send its `ETag` as `If-Match` with the change, so that no other change is lost.',
  },
  invalid_transition: {
    ...conflict,
    status: 409,
    message: 'The record cannot go from its present status to this one.',
    meaning: 'The record cannot change from its present status to the one asked for.',
    remedy: 'Read the record, and take a step that its present status allows.',
  },
  already_exists: {
    ...conflict,
    status: 409,
    message: 'There is a record with this value already; param names it.',
    meaning: 'There is a record with this value of the member that `param` names.',
    remedy: 'Use the record that is there, or another value for the member that `param` names.',
  },
  operation_unsupported: {
    ...request,
    status: 422,
    message: 'The service behind this operation cannot do this.',
    meaning: 'The service behind the operation cannot do this as it is set up.',
    remedy: 'Do without this step, or ask the operator of the service. The same request will not succeed later.',
  },
  quota_exceeded: {
    ...forbidden,
    status: 422,
    message: 'A quota of the service behind this operation is used up.',
    meaning: 'A quota of the service behind the operation is used up. Waiting does not help.',
    remedy: 'Remove what is no longer needed, or ask the operator for a larger quota.',
  },
  reference_missing: {
    ...request,
    status: 422,
    message: 'The request refers to a record that does not exist.',
    meaning: 'The body refers to a record that does not exist.',
    remedy: 'Check the identifier that `param` names: it has to exist in the same organization and mode.',
  },

  // Idempotency
  idempotency_key_missing: {
    type: 'idempotency_error',
    blame: 'client',
    retryable: false,
    status: 400,
    message: 'This operation requires an Idempotency-Key header, so that a repeated request cannot run twice.',
    meaning: 'The operation requires an `Idempotency-Key` header.',
    remedy:
      'Make a random key (a UUID) for this write and send it with every attempt. See [idempotency](/docs/guides/idempotency).',
  },
  idempotency_key_malformed: {
    type: 'idempotency_error',
    blame: 'client',
    retryable: false,
    status: 400,
    message: 'The Idempotency-Key header is one value of 1 to 255 visible ASCII characters.',
    meaning: 'The `Idempotency-Key` is empty, too long, or has characters that are not visible ASCII.',
    remedy: 'Send a UUID, or another text of 1 to 255 visible ASCII characters.',
  },
  idempotency_key_in_use: {
    type: 'idempotency_error',
    blame: 'client',
    retryable: true,
    status: 409,
    retryAfterSeconds: 1,
    message: 'The first request with this Idempotency-Key is still running.',
    meaning: 'The first request with this `Idempotency-Key` is still running. Wait for `Retry-After` seconds.',
    remedy: 'Wait as long as `Retry-After` says and send the same request again: you get the answer of the first one.',
  },
  idempotency_key_reused: {
    type: 'idempotency_error',
    blame: 'client',
    retryable: false,
    status: 422,
    message: 'This Idempotency-Key was used for a different request. A new request needs a new key.',
    meaning: 'The `Idempotency-Key` was used for a different request: path, query, media type or body differ.',
    remedy: 'Make a new key for each new request, and keep it only for repetitions of that request.',
  },
  idempotency_result_not_retained: {
    type: 'idempotency_error',
    blame: 'client',
    retryable: false,
    status: 409,
    message: 'The first request with this Idempotency-Key was answered, but its answer was not kept.',
    meaning:
      'The request was executed before, but its answer was not stored: it was too long, or the organization had no room left. See [idempotency](/docs/guides/idempotency).',
    remedy: 'Read with a `GET` what the first request did. Do not send it again with another key: it was executed.',
  },
  idempotency_outcome_unknown: {
    type: 'idempotency_error',
    blame: 'client',
    retryable: false,
    status: 409,
    message:
      'Whether the first request with this Idempotency-Key was executed is not known, so it is not sent again. Find out with a GET, then use a new key.',
    meaning:
      'The first request was sent, and whether it was executed is not known: it is not sent again. See [idempotency](/docs/guides/idempotency).',
    remedy:
      '`sent_at`, `sent_to` and `original_request_id` say what is known. Find out with a `GET` whether it was executed. If not, send it again with a new key.',
  },

  // Limits
  rate_limited: {
    ...limited,
    status: 429,
    message: 'The request limit is used up. Wait as long as Retry-After says.',
    meaning: 'The limit named in `violated_policies` is used up. Wait for `Retry-After` seconds.',
    remedy:
      'Wait as long as `Retry-After` says and send it again. Slow down when `RateLimit` shows little left. See [rate limits](/docs/guides/rate-limits).',
  },
  too_many_streams: {
    ...limited,
    status: 429,
    message: 'Your organization has as many open streams as it may have. Close one of them first.',
    meaning:
      'The organization has `open_streams_max` event streams, JSON lines and WebSockets open, and may open no more.',
    remedy:
      'Close streams that are not read any more. Share one stream within your application instead of opening several.',
  },
  auth_attempts_limited: {
    ...limited,
    status: 429,
    message: 'Too many failed requests came from this network address. Wait as long as Retry-After says.',
    meaning: 'Too many requests from this network address were refused. Keys known to be good still pass.',
    remedy: 'Stop sending what is refused, correct the key or the path, and wait as long as `Retry-After` says.',
  },

  // Transport
  tls_required: {
    ...request,
    status: 403,
    closes: true,
    message: 'This is served over HTTPS only. Nothing was processed.',
    hints: { credentials: 'What this request shows as credentials may have been read on its way: replace it.' },
    meaning:
      'The request came by plain HTTP to a listener that only points at HTTPS. Credentials that were sent that way have to be replaced.',
    remedy: 'Call the same address with `https://`. If a key went over the wire in the clear, have it replaced.',
  },

  // Upstreams
  upstream_unreachable: {
    ...upstream,
    status: 502,
    retryable: true,
    message: 'The service behind this operation cannot be reached. Nothing was processed.',
    meaning: 'No connection to the service behind the operation could be made. Nothing was processed.',
    remedy: 'Send the request again, with growing pauses in between. Tell support the `request_id` if it lasts.',
  },
  upstream_timeout: {
    ...upstream,
    status: 504,
    message: 'The service behind this operation did not answer in time.',
    meaning: 'The service behind the operation did not answer in time. It may have processed the request.',
    remedy: 'Send it again if `retryable` says so. Otherwise find out first, by reading, whether it was done.',
  },
  upstream_bad_response: {
    ...upstream,
    status: 502,
    message: 'The service behind this operation gave no usable answer.',
    meaning: 'The service behind the operation broke off or sent something that is no valid answer.',
    remedy: 'Send it again if `retryable` says so. Otherwise find out first, by reading, whether it was done.',
  },
  upstream_contract_violation: {
    ...upstream,
    status: 502,
    message: 'The answer of the service behind this operation does not match the API contract.',
    meaning: 'The service behind the operation answered against its own contract.',
    remedy: 'Nothing is wrong with your request. Tell support the `request_id`.',
  },
  upstream_auth_failed: {
    ...upstream,
    status: 502,
    retryable: false,
    message: 'The service behind this operation refused the gateway. Your credentials are fine.',
    meaning: 'The service behind the operation did not let the gateway in. Your key is fine.',
    remedy: 'Nothing is wrong with your request or your key. Tell support the `request_id`.',
  },
  upstream_rejected: {
    type: 'invalid_request_error',
    blame: 'client',
    retryable: false,
    status: 400,
    message: 'The service behind this operation refused the request.',
    meaning:
      'The service behind the operation refused the request. The status is its own, the message too where it was understood.',
    remedy: 'Read the message and compare the request with the [reference](/docs/reference).',
  },
  upstream_overloaded: {
    ...upstream,
    status: 503,
    retryable: true,
    retryAfterSeconds: 2,
    message: 'The service behind this operation takes no more requests at the moment.',
    meaning: 'The service behind the operation takes no more requests at the moment.',
    remedy: 'Wait as long as `Retry-After` says and send it again, and fewer requests at once.',
  },
  upstream_error: {
    ...upstream,
    status: 500,
    message: 'The service behind this operation failed.',
    meaning: 'The service behind the operation failed with 500, or with 501, which is then the status.',
    remedy: 'Send it again if `retryable` says so. Tell support the `request_id` if it lasts.',
  },
  upstream_unavailable: {
    ...upstream,
    status: 503,
    retryable: true,
    retryAfterSeconds: 2,
    message: 'The service behind this operation is not available at the moment.',
    meaning: 'The service behind the operation is not available at the moment.',
    remedy: 'Wait as long as `Retry-After` says and send it again, with growing pauses.',
  },
  gateway_overloaded: {
    ...gateway,
    status: 503,
    retryAfterSeconds: 1,
    message: 'The gateway cannot take this request at the moment. Nothing was processed.',
    meaning: 'The gateway cannot take the request at the moment. Nothing was processed.',
    remedy: 'Wait as long as `Retry-After` says and send it again.',
  },
  gateway_shutting_down: {
    ...gateway,
    status: 503,
    retryAfterSeconds: 1,
    closes: true,
    message: 'This gateway is being restarted. Nothing was processed.',
    meaning: 'This instance of the gateway is being stopped. Nothing was processed.',
    remedy: 'Send it again at once, on a new connection: another instance takes it.',
  },
  internal_error: {
    ...upstream,
    blame: 'gateway',
    status: 500,
    message: 'Something went wrong inside the gateway.',
    meaning: 'A mistake in the gateway. Quote the `request_id` when you ask for help.',
    remedy: 'Send it again if `retryable` says so. Tell support the `request_id` if it happens again.',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof REFUSALS;
