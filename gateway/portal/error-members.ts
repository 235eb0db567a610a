// The members that the error object has with single codes, as examples for their pages.

import type { ErrorCode } from '../error-catalogue.ts';
import type { GuideFacts } from './guide-facts.ts';

type Members = Readonly<Record<string, unknown>>;

const members: { readonly [Code in ErrorCode]?: Members } = {
  version_sunset: { sunset: '2028-02-17', successor: 'v2' },
  method_not_allowed: { allowed_methods: ['GET', 'POST'] },
  not_acceptable: { available_media_types: ['application/json'] },
  unsupported_media_type: { accepted_media_types: ['application/json'] },
  body_too_large: { max_bytes: 1_048_576 },
  uri_too_long: { max_bytes: 8192 },
  headers_too_large: { max_bytes: 16_384 },
  malformed_json: { byte_offset: 27 },
  malformed_form: { byte_offset: 27 },
  json_too_complex: { max_depth: 32 },
  validation_failed: {
    param: 'limit',
    errors: [
      {
        in: 'query',
        param: 'limit',
        code: 'too_large',
        message: 'Must be at most 100.',
        constraint: { maximum: 100 },
      },
    ],
  },
  invalid_transition: { param: 'status' },
  already_exists: { param: 'name' },
  reference_missing: { param: 'customer_id' },
  idempotency_outcome_unknown: {
    original_request_id: 'req_01K9Z6KXQ2M7C5V0T4R8WEHJ31',
    sent_at: '2026-03-02T09:15:27.318Z',
    sent_to: 'platform',
  },
  too_many_streams: { open_streams_max: 100 },
};

/** Scopes and versions are those of the served contracts. */
export function membersOfCode(code: ErrorCode, facts: GuideFacts): Members {
  const scope = facts.get('writeScope') ?? facts.get('readScope');
  if (code === 'insufficient_scope') return { required_scopes: [scope ?? 'orders:write'] };
  if (code === 'version_unknown') return { supported_versions: JSON.parse(`[${facts.get('versions') ?? '"v1"'}]`) };
  if (code === 'rate_limited') return { violated_policies: [facts.get('countPer') ?? 'organization'] };
  return members[code] ?? {};
}
