// The error codes of answers in which a service refuses a request, and of services that fail or cannot be reached.

import {
  type CatalogueEntry,
  CONFLICT,
  FAULT_OF_UPSTREAM,
  INVALID_REQUEST,
  NOT_FOUND,
  NOT_PERMITTED,
} from '../catalogue/catalogue-entry.ts';

export const UPSTREAM_CODES = {
  resource_missing: {
    ...NOT_FOUND,
    status: 404,
    message: 'There is no such record.',
    meaning: 'The record does not exist, or belongs to another organization.',
    remedy:
      'Check the identifier, and that the key belongs to the organization and the mode (live or test) in which the record was created.',
  },
  invalid_cursor: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The cursor does not belong to this list. Start from the beginning, without a cursor.',
    meaning: 'The cursor is broken, or was made for another list, filter or sort.',
    remedy:
      'Start from the beginning, without a cursor. Then send each `cursor` unchanged, with the same filters and sort. See [pagination](/docs/guides/pagination).',
  },
  precondition_failed: {
    ...CONFLICT,
    status: 412,
    message: 'The record changed in the meantime: a precondition of the request does not hold.',
    meaning: 'An `If-Match` or similar header does not hold: the record was changed in the meantime.',
    remedy: 'Read the current record, apply your change to it, and send the result with the new `ETag`.',
  },
  precondition_required: {
    ...INVALID_REQUEST,
    status: 428,
    message: 'This change requires If-Match, so that it does not overwrite a newer version of the record.',
    meaning: 'The service behind the operation requires an `If-Match` or similar header with this change.',
    remedy:
      'Retrieve the record and send its `ETag` as `If-Match` with the change, so that it overwrites no other change.',
  },
  invalid_transition: {
    ...CONFLICT,
    status: 409,
    message: 'The record cannot change from its current status to this one.',
    meaning: 'The record cannot change from its current status to the requested status.',
    remedy: 'Read the record, and choose a change that its current status allows.',
    example: { param: 'status' },
  },
  already_exists: {
    ...CONFLICT,
    status: 409,
    message: 'There is a record with this value already; param names it.',
    meaning: 'A record with this value of the field that `param` names exists already.',
    remedy: 'Use the existing record, or another value for the field that `param` names.',
    example: { param: 'name' },
  },
  operation_unsupported: {
    ...INVALID_REQUEST,
    status: 422,
    message: 'The service behind this operation cannot do this.',
    meaning: 'The service behind the operation cannot do this as it is set up.',
    remedy: 'Leave this step out, or ask the operator of the service. The same request will not succeed later.',
  },
  quota_exceeded: {
    ...NOT_PERMITTED,
    status: 422,
    message: 'A quota of the service behind this operation is used up.',
    meaning: 'A quota of the service behind the operation is used up. Waiting does not help.',
    remedy: 'Remove what is no longer needed, or ask the operator for a larger quota.',
  },
  reference_missing: {
    ...INVALID_REQUEST,
    status: 422,
    message: 'The request refers to a record that does not exist.',
    meaning: 'The body refers to a record that does not exist.',
    remedy: 'Check the identifier that `param` names: it has to exist in the same organization and mode.',
    example: { param: 'customer_id' },
  },
  upstream_unreachable: {
    ...FAULT_OF_UPSTREAM,
    status: 502,
    retryable: true,
    message: 'The service behind this operation cannot be reached. Nothing was processed.',
    meaning: 'No connection to the service behind the operation could be made. Nothing was processed.',
    remedy: 'Retry with growing pauses. If the error persists, tell support the `request_id`.',
  },
  upstream_timeout: {
    ...FAULT_OF_UPSTREAM,
    status: 504,
    message: 'The service behind this operation did not respond in time.',
    meaning: 'The service behind the operation did not respond in time. It may have processed the request.',
    remedy: 'Retry if `retryable` is true. Otherwise find out first, with a `GET`, whether the request was executed.',
  },
  upstream_bad_response: {
    ...FAULT_OF_UPSTREAM,
    status: 502,
    message: 'The service behind this operation gave no usable response.',
    meaning:
      'The service behind the operation closed the connection early, or sent something that is not a valid response.',
    remedy: 'Retry if `retryable` is true. Otherwise find out first, with a `GET`, whether the request was executed.',
  },
  upstream_contract_violation: {
    ...FAULT_OF_UPSTREAM,
    status: 502,
    message: 'The response of the service behind this operation does not match the API contract.',
    meaning: 'The response of the service behind the operation violates its own contract.',
    remedy: 'Nothing is wrong with your request. Tell support the `request_id`.',
  },
  upstream_auth_failed: {
    ...FAULT_OF_UPSTREAM,
    status: 502,
    retryable: false,
    message: 'The gateway could not sign in to the service behind this operation. Your credentials are fine.',
    meaning: 'The gateway could not sign in to the service behind the operation. Your key is fine.',
    remedy: 'Nothing is wrong with your request or your key. Tell support the `request_id`.',
  },
  upstream_rejected: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The service behind this operation refused the request.',
    meaning:
      'The service behind the operation refused the request. The status comes from the service, and so does the message if the gateway could read it.',
    remedy: 'Read the message and compare the request with the [reference](/docs/reference).',
  },
  upstream_overloaded: {
    ...FAULT_OF_UPSTREAM,
    status: 503,
    retryable: true,
    retryAfterSeconds: 2,
    message: 'The service behind this operation takes no more requests at the moment.',
    meaning: 'The service behind the operation takes no more requests at the moment.',
    remedy: 'Wait `retry_after` seconds, as the header `Retry-After` says, then retry with fewer concurrent requests.',
  },
  upstream_error: {
    ...FAULT_OF_UPSTREAM,
    status: 500,
    message: 'The service behind this operation failed.',
    meaning:
      'The service behind the operation failed: it responded with 500 or 501, and this response has the same status.',
    remedy: 'Retry if `retryable` is true. If the error persists, tell support the `request_id`.',
  },
  upstream_unavailable: {
    ...FAULT_OF_UPSTREAM,
    status: 503,
    retryable: true,
    retryAfterSeconds: 2,
    message: 'The service behind this operation is not available at the moment.',
    meaning: 'The service behind the operation is not available at the moment.',
    remedy: 'Wait `retry_after` seconds, as the header `Retry-After` says, then retry with growing pauses.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
