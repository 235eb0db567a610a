// The meaning and remedy of every code in the catalogue, for the pages under /docs/errors and the table of docs/errors.md.

import type { ErrorCode } from '../errors.ts';

export interface Explanation {
  /** Why it happens. One line of Markdown. */
  readonly meaning: string;
  /** What the client should do. One line of Markdown; links begin with `/docs`. */
  readonly remedy: string;
}

/** In the order of the catalogue. */
export const EXPLANATIONS: Readonly<Record<ErrorCode, Explanation>> = {
  api_key_missing: {
    meaning: 'No `Authorization` header was sent.',
    remedy:
      'Send your key with every request: `Authorization: Bearer <key>`. See [authentication](/docs/guides/authentication).',
  },
  auth_scheme_unsupported: {
    meaning: 'The `Authorization` header has another scheme than `Bearer`.',
    remedy:
      'Write `Authorization: Bearer <key>`. The `WWW-Authenticate` headers of the answer name what the operation accepts.',
  },
  api_key_misplaced: {
    meaning: 'A key was found in the URL. Replace it, since URLs end up in logs.',
    remedy: 'Have this key revoked and a new one made, then send that one in the `Authorization` header.',
  },
  authorization_ambiguous: {
    meaning: 'There are several `Authorization` headers.',
    remedy: 'Send exactly one `Authorization` header. Often a library adds one of its own beside yours.',
  },
  api_key_malformed: {
    meaning: 'What was sent is not a key: its length, form or checksum is wrong.',
    remedy: 'Copy the whole key again, without quotes or spaces around it. Keys begin with `sk_live_` or `sk_test_`.',
  },
  api_key_invalid: {
    meaning: 'The key has the right form and was never issued.',
    remedy: 'Look whether the key belongs to this platform and not to another one, or to another installation of it.',
  },
  api_key_revoked: {
    meaning: 'The key was withdrawn.',
    remedy: 'Use the key that replaced it. If there is none, ask the person who manages the keys of your organization.',
  },
  api_key_expired: {
    meaning: 'The key had an end, which has passed.',
    remedy: 'Use the key that replaced it. If there is none, ask the person who manages the keys of your organization.',
  },
  token_invalid: {
    meaning: 'The token of an application is not accepted; the message says why. Another one of its issuer may be.',
    remedy:
      'Read the message, then get another token from its issuer. If that one is refused as well, the issuer or its claims are not what the gateway expects.',
  },
  token_expired: {
    meaning: 'The token was good until its `exp`. Get another one from its issuer.',
    remedy: 'Get a new token from its issuer and send the request again with that.',
  },
  token_audience: {
    meaning: 'The token was issued for another audience than this gateway (`aud`).',
    remedy: 'Ask the issuer for a token whose audience is this API.',
  },
  basic_credentials_invalid: {
    meaning: 'The user name or the password of HTTP Basic is wrong, or they are not written as RFC 7617 says.',
    remedy: 'Correct user name and password. Do not try again and again: failed attempts are counted.',
  },
  auth_unavailable: {
    meaning: 'Keys and tokens that were not seen lately cannot be checked at the moment. It says nothing about them.',
    remedy: 'Wait as long as `Retry-After` says and send the request again. Do not replace the key.',
  },
  insufficient_scope: {
    meaning: 'The key lacks a scope; `required_scopes` lists what the operation requires.',
    remedy: 'Use a key that holds the scopes listed in `required_scopes`, or have one made.',
  },
  key_mode_mismatch: {
    meaning: 'A test key was used where there is no test mode.',
    remedy: 'Use a live key for this operation, or leave it out of your tests.',
  },
  ip_not_allowed: {
    meaning: 'The key may be used from certain addresses only, and this is not one of them.',
    remedy: 'Send the request from one of the addresses that the key is bound to, or have the list changed.',
  },
  account_inactive: {
    meaning: 'The organization of the key is suspended.',
    remedy: 'Ask the operator of the platform why the organization is suspended. A new key does not help.',
  },
  route_not_found: {
    meaning: 'Nothing is served at this path. Paths begin with the version: `/v1/…`.',
    remedy: 'Compare the path with the [reference](/docs/reference): the version, the plural, no slash at the end.',
  },
  resource_missing: {
    meaning: 'The record does not exist, or belongs to another organization.',
    remedy:
      'Check the identifier, and that the key belongs to the organization and the mode (live or test) in which the record was created.',
  },
  version_unknown: {
    meaning: 'The path begins with a version that never existed; `supported_versions` lists those that do.',
    remedy: 'Use one of the versions in `supported_versions`.',
  },
  version_sunset: {
    meaning:
      'The version or the operation has come to its announced end (`sunset`); `successor` and `Link` tell what follows it.',
    remedy: 'Move to what `successor` names; the `Link` header says how. See [versioning](/docs/guides/versioning).',
  },
  misdirected_request: {
    meaning: 'This host name is not served here. Look at the address that you call.',
    remedy: 'Call the host name that you were given. A proxy in between may have changed it.',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method; `Allow` and `allowed_methods` list those that do.',
    remedy: 'Use one of the methods in `allowed_methods`.',
  },
  method_not_implemented: {
    meaning: 'The method is not one that the gateway knows.',
    remedy: 'Use a method of HTTP that the operation describes: GET, POST, PATCH, PUT or DELETE.',
  },
  not_acceptable: {
    meaning: '`Accept` rules out everything the operation answers with; see `available_media_types`.',
    remedy: 'Leave `Accept` out, or name one of `available_media_types` in it.',
  },
  unsupported_media_type: {
    meaning: 'The body has no `Content-Type`, or one that the operation does not accept; see `accepted_media_types`.',
    remedy: 'Send a `Content-Type` from `accepted_media_types`, mostly `application/json`.',
  },
  unsupported_content_encoding: {
    meaning: 'The body is compressed.',
    remedy: 'Send the body without compression, and without `Content-Encoding`.',
  },
  unsupported_charset: {
    meaning: 'The body is declared to be something else than UTF-8.',
    remedy: 'Encode the body as UTF-8, and name that charset or none.',
  },
  body_too_large: {
    meaning: 'The body is longer than `max_bytes`. The connection is closed.',
    remedy: 'Send less at once. `max_bytes` is the most that is taken in.',
  },
  uri_too_long: {
    meaning: 'The path and query are longer than `max_bytes`.',
    remedy: 'Shorten the query, or send fewer values at once.',
  },
  headers_too_large: {
    meaning: 'The headers are longer than `max_bytes` or more than `max_lines`.',
    remedy: 'Send fewer or shorter headers. Cookies and trace state are the usual reason.',
  },
  expectation_failed: {
    meaning: 'An `Expect` header asks for something else than `100-continue`.',
    remedy: 'Leave the `Expect` header out.',
  },
  request_timeout: {
    meaning: 'The request began but did not arrive completely in time.',
    remedy: 'Send the request again. If that happens often, look at the connection, or send smaller bodies.',
  },
  malformed_http: {
    meaning:
      'The message breaks the rules of HTTP/1.1, or could be read in more than one way. The connection is closed.',
    remedy:
      'Use a library that speaks HTTP, and build neither request line nor headers by hand. Open a new connection.',
  },
  http_version_not_supported: {
    meaning: 'The request line names another version than HTTP/1.1 or 1.0.',
    remedy: 'Speak HTTP/1.1.',
  },
  malformed_path: {
    meaning:
      'The path or query has an invalid escape, an empty or dot segment, an encoded separator, or a character that needs to be escaped.',
    remedy: 'Escape each part of the path and of the query by itself, and join them with single slashes.',
  },
  malformed_json: {
    meaning: 'The body is not exactly one JSON text in UTF-8; from `byte_offset` on it is none.',
    remedy: 'Let a library write the JSON, and send its text unchanged as UTF-8.',
  },
  duplicate_json_member: {
    meaning: 'An object in the body names a member twice, also if it is spelled with escapes once.',
    remedy: 'Write each member of an object once.',
  },
  json_too_complex: {
    meaning: 'The body is nested deeper than `max_depth` or has more members than `max_members`.',
    remedy: 'Send a flatter body. No operation needs this depth.',
  },
  body_missing: {
    meaning: 'The operation requires a body and none was sent.',
    remedy: 'Send the body that the [reference](/docs/reference) describes, with its `Content-Type`.',
  },
  validation_failed: {
    meaning: 'Path, query, headers or body do not match the contract; `errors` lists every violation with its place.',
    remedy:
      'Correct every entry of `errors`: each names the place (`in`, `param`, `pointer`), what is wrong (`code`) and the rule (`constraint`).',
  },
  invalid_cursor: {
    meaning: 'The cursor is broken, or was made for another list, filter or sort. Start again without it.',
    remedy:
      'Send the first request of the list again, and each `cursor` unchanged with the same filters and sort. See [pagination](/docs/guides/pagination).',
  },
  precondition_failed: {
    meaning: 'An `If-Match` or similar header does not hold: the record was changed in the meantime.',
    remedy: 'Read the record again, apply your change to what it is now, and send that with its new `ETag`.',
  },
  precondition_required: {
    meaning: 'The service behind the operation asks for an `If-Match` or similar header with this change.',
    remedy: 'Retrieve the record and send its `ETag` as `If-Match` with the change, so that no other change is lost.',
  },
  invalid_transition: {
    meaning: 'The record cannot change from its present status to the one asked for.',
    remedy: 'Read the record, and take a step that its present status allows.',
  },
  already_exists: {
    meaning: 'There is a record with this value of the member that `param` names.',
    remedy: 'Use the record that is there, or another value for the member that `param` names.',
  },
  operation_unsupported: {
    meaning: 'The service behind the operation cannot do this as it is set up.',
    remedy: 'Do without this step, or ask the operator of the service. The same request will not succeed later.',
  },
  quota_exceeded: {
    meaning: 'A quota of the service behind the operation is used up. Waiting does not help.',
    remedy: 'Remove what is no longer needed, or ask the operator for a larger quota.',
  },
  reference_missing: {
    meaning: 'The body refers to a record that does not exist.',
    remedy: 'Check the identifier that `param` names: it has to exist in the same organization and mode.',
  },
  idempotency_key_missing: {
    meaning: 'The operation requires an `Idempotency-Key` header.',
    remedy:
      'Make a random key (a UUID) for this write and send it with every attempt. See [idempotency](/docs/guides/idempotency).',
  },
  idempotency_key_malformed: {
    meaning: 'The `Idempotency-Key` is empty, too long, or has characters that are not visible ASCII.',
    remedy: 'Send a UUID, or another text of 1 to 255 visible ASCII characters.',
  },
  idempotency_key_in_use: {
    meaning: 'The first request with this `Idempotency-Key` is still running. Wait for `Retry-After` seconds.',
    remedy: 'Wait as long as `Retry-After` says and send the same request again: you get the answer of the first one.',
  },
  idempotency_key_reused: {
    meaning: 'The `Idempotency-Key` was used for a different request: path, query, media type or body differ.',
    remedy: 'Make a new key for each new request, and keep it only for repetitions of that request.',
  },
  idempotency_result_not_retained: {
    meaning:
      'The request was done before, but its answer was not kept: too long, or one too many. See [idempotency](/docs/guides/idempotency).',
    remedy: 'Read with a `GET` what the first request did. Do not send it again with another key: it was done.',
  },
  idempotency_outcome_unknown: {
    meaning:
      'The first request was sent, and whether it was executed is not known: it is not sent again. See [idempotency](/docs/guides/idempotency).',
    remedy:
      '`sent_at`, `sent_to` and `original_request_id` say what is known. Find out with a `GET` whether it was executed. If not, send it again with a new key.',
  },
  rate_limited: {
    meaning: 'The limit named in `violated_policies` is used up. Wait for `Retry-After` seconds.',
    remedy:
      'Wait as long as `Retry-After` says and send it again. Slow down when `RateLimit` shows little left. See [rate limits](/docs/guides/rate-limits).',
  },
  auth_attempts_limited: {
    meaning: 'Too many requests from this network address were refused. Keys known to be good still pass.',
    remedy: 'Stop sending what is refused, correct the key or the path, and wait as long as `Retry-After` says.',
  },
  tls_required: {
    meaning:
      'The request came by plain HTTP to a listener that only points at HTTPS. Credentials that were sent that way have to be replaced.',
    remedy: 'Call the same address with `https://`. If a key went over the wire in the clear, have it replaced.',
  },
  upstream_unreachable: {
    meaning: 'No connection to the service behind the operation could be made. Nothing was processed.',
    remedy: 'Send the request again, with growing pauses in between. Tell support the `request_id` if it lasts.',
  },
  upstream_timeout: {
    meaning: 'The service behind the operation did not answer in time. It may have processed the request.',
    remedy: 'Send it again if `retryable` says so. Otherwise find out first, by reading, whether it was done.',
  },
  upstream_bad_response: {
    meaning: 'The service behind the operation broke off or sent something that is no valid answer.',
    remedy: 'Send it again if `retryable` says so. Otherwise find out first, by reading, whether it was done.',
  },
  upstream_contract_violation: {
    meaning: 'The service behind the operation answered against its own contract.',
    remedy: 'Nothing is wrong with your request. Tell support the `request_id`.',
  },
  upstream_auth_failed: {
    meaning: 'The service behind the operation did not let the gateway in. Your key is fine.',
    remedy: 'Nothing is wrong with your request or your key. Tell support the `request_id`.',
  },
  upstream_rejected: {
    meaning:
      'The service behind the operation refused the request. The status is its own, the message too where it was understood.',
    remedy: 'Read the message and compare the request with the [reference](/docs/reference).',
  },
  upstream_overloaded: {
    meaning: 'The service behind the operation takes no more requests at the moment.',
    remedy: 'Wait as long as `Retry-After` says and send it again, and fewer requests at once.',
  },
  upstream_error: {
    meaning: 'The service behind the operation failed with 500, or with 501, which is then the status.',
    remedy: 'Send it again if `retryable` says so. Tell support the `request_id` if it lasts.',
  },
  upstream_unavailable: {
    meaning: 'The service behind the operation is not available at the moment.',
    remedy: 'Wait as long as `Retry-After` says and send it again, with growing pauses.',
  },
  gateway_overloaded: {
    meaning: 'The gateway cannot take the request at the moment. Nothing was processed.',
    remedy: 'Wait as long as `Retry-After` says and send it again.',
  },
  gateway_shutting_down: {
    meaning: 'This instance of the gateway is being stopped. Nothing was processed.',
    remedy: 'Send it again at once, on a new connection: another instance takes it.',
  },
  internal_error: {
    meaning: 'A mistake in the gateway. Quote the `request_id` when you ask for help.',
    remedy: 'Send it again if `retryable` says so. Tell support the `request_id` if it happens again.',
  },
};
