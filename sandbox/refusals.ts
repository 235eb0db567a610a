// The refusals the sandbox can answer, as data, and the one error class that carries them. The codes are those of the
// gateway's catalogue; the two assertion codes are seen by the gateway only.

export interface SandboxViolation {
  readonly in: 'path' | 'query' | 'body';
  readonly param: string;
  readonly pointer?: string;
  readonly code: string;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

const REFUSALS = {
  assertion_missing: [401, 'authentication_error', 'The request carries no assertion of the gateway.'],
  assertion_invalid: [401, 'authentication_error', 'The assertion of the gateway is not valid.'],
  route_not_found: [404, 'not_found_error', 'There is nothing at this path.'],
  method_not_allowed: [405, 'invalid_request_error', 'This method is not available on this path.'],
  malformed_http: [400, 'invalid_request_error', 'The request is not well-formed HTTP/1.1.'],
  malformed_json: [400, 'invalid_request_error', 'The body is not one well-formed JSON text in UTF-8.'],
  body_missing: [400, 'invalid_request_error', 'The operation needs a body.'],
  body_too_large: [413, 'invalid_request_error', 'The body is larger than 1 MiB.'],
  validation_failed: [400, 'invalid_request_error', 'The request does not match the API contract.'],
  invalid_cursor: [
    400,
    'invalid_request_error',
    'This cursor was not made for this list with these filters and this sort. Start again without a cursor.',
  ],
  resource_missing: [404, 'not_found_error', 'There is no such record.'],
  reference_missing: [422, 'invalid_request_error', 'The request refers to a record that does not exist.'],
  invalid_transition: [409, 'conflict_error', 'The record cannot go from its present status to this one.'],
  upstream_rejected: [409, 'conflict_error', 'Other records refer to this one, so it cannot be deleted.'],
  idempotency_key_malformed: [400, 'idempotency_error', 'An Idempotency-Key is 1 to 255 visible ASCII characters.'],
  idempotency_key_reused: [422, 'idempotency_error', 'This Idempotency-Key was already used with another request.'],
  internal_error: [500, 'api_error', 'Something went wrong in the service.'],
} as const satisfies Record<string, readonly [status: number, type: string, message: string]>;

export type RefusalCode = keyof typeof REFUSALS;

export interface RefusalFacts {
  /** A more precise sentence, made of the service's own words and never of the client's input. */
  readonly message?: string;
  readonly param?: string;
  readonly errors?: readonly SandboxViolation[];
  readonly headers?: Readonly<Record<string, string>>;
}

export class SandboxRefusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;

  constructor(code: RefusalCode, facts: RefusalFacts = {}) {
    const [status, type, text] = REFUSALS[code];
    super(code);
    const message = facts.message ?? text;
    const param = facts.param ?? facts.errors?.[0]?.param;
    this.code = code;
    this.status = status;
    this.headers = facts.headers ?? {};
    this.body = JSON.stringify({
      error: { type, code, message, status, ...(param === undefined ? {} : { param }), ...listed(facts.errors) },
    });
  }
}

const ERRORS_MAX = 20;

function listed(errors: readonly SandboxViolation[] | undefined): Record<string, unknown> {
  if (errors === undefined) return {};
  if (errors.length <= ERRORS_MAX) return { errors };
  return { errors: errors.slice(0, ERRORS_MAX), truncated: true };
}
