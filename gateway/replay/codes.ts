// The error codes of the Idempotency-Key.

import { type CatalogueEntry, MISUSED_KEY } from '../catalogue/catalogue-entry.ts';

export const REPLAY_CODES = {
  idempotency_key_missing: {
    ...MISUSED_KEY,
    needs: 'required repeats',
    status: 400,
    message: 'This operation requires an Idempotency-Key header, so that a repeated request cannot run twice.',
    meaning: 'The operation requires an `Idempotency-Key` header.',
    remedy:
      'Make a random key (a UUID) for this write and send it with every attempt. See [idempotency](/docs/guides/idempotency).',
  },
  idempotency_key_malformed: {
    ...MISUSED_KEY,
    needs: 'repeats',
    status: 400,
    message: 'The Idempotency-Key header is one value of 1 to 255 visible ASCII characters.',
    meaning: 'The `Idempotency-Key` is empty, too long, or has characters that are not visible ASCII.',
    remedy: 'Send a UUID, or another text of 1 to 255 visible ASCII characters.',
  },
  idempotency_key_in_use: {
    ...MISUSED_KEY,
    needs: 'repeats',
    retryable: true,
    status: 409,
    retryAfterSeconds: 1,
    message: 'The first request with this Idempotency-Key is still running.',
    meaning: 'The first request with this `Idempotency-Key` is still running. Wait `retry_after` seconds.',
    remedy:
      'Wait `retry_after` seconds, as the header `Retry-After` says, then retry. You get the response of the first request.',
  },
  idempotency_key_reused: {
    ...MISUSED_KEY,
    needs: 'repeats',
    status: 422,
    message: 'This Idempotency-Key was used for a different request. A new request needs a new key.',
    meaning: 'The `Idempotency-Key` was used for a different request: path, query, media type or body differ.',
    remedy: 'Make a new key for each new request, and reuse it only for retries of that request.',
  },
  idempotency_result_not_retained: {
    ...MISUSED_KEY,
    needs: 'repeats',
    status: 409,
    message: 'The first request with this Idempotency-Key was executed, but its response was not stored.',
    meaning:
      'The request was executed before, but its response was not stored: it was too long, or the organization had no room left. See [idempotency](/docs/guides/idempotency).',
    remedy: 'Read with a `GET` what the first request did. Do not retry it with another key, because it was executed.',
  },
  idempotency_outcome_unknown: {
    ...MISUSED_KEY,
    needs: 'repeats',
    status: 409,
    message:
      'It is not known whether the first request with this Idempotency-Key was executed, so it is not sent again. Find out with a GET, then use a new key.',
    meaning:
      'The first request was sent, and it is not known whether it was executed. It is not sent again. See [idempotency](/docs/guides/idempotency).',
    remedy:
      '`sent_at`, `sent_to` and `original_request_id` describe the first request. Find out with a `GET` whether it was executed. If not, retry with a new key.',
    example: {
      original_request_id: 'req_01K9Z6KXQ2M7C5V0T4R8WEHJ31',
      sent_at: '2026-03-02T09:15:27.318Z',
      sent_to: 'platform',
    },
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
