// The error codes of requests that belong to no operation, or that do not match their contract.

import { type CatalogueEntry, INVALID_REQUEST, NOT_FOUND } from '../catalogue/catalogue-entry.ts';

export const CONTRACT_CODES = {
  route_not_found: {
    ...NOT_FOUND,
    status: 404,
    message: 'There is nothing at this path.',
    hints: {
      version_first: 'Paths begin with the version, without /api in front: /v1/customers.',
      trailing_slash: 'Write the path without the slash at the end.',
      near: 'Did you mean {nearest_path}?',
    },
    meaning: 'No operation has this path. If one has a similar path, `nearest_path` names it.',
    remedy: 'Compare the path with the [reference](/docs/reference): the version, the spelling, no slash at the end.',
    example: { nearest_path: '/v1/customers' },
  },
  method_not_allowed: {
    ...INVALID_REQUEST,
    status: 405,
    message: 'This method is not available on this path. The Allow header lists the available methods.',
    meaning: 'The path exists, but not with this method; `Allow` and `allowed_methods` list the methods that exist.',
    remedy: 'Use one of the methods in `allowed_methods`.',
    example: { allowed_methods: ['GET', 'POST'] },
  },
  method_not_implemented: {
    ...INVALID_REQUEST,
    status: 501,
    message: 'This method is not known here.',
    meaning: 'The gateway does not know the method.',
    remedy: 'Use an HTTP method that the path has: GET, POST, PATCH, PUT or DELETE.',
  },
  not_acceptable: {
    ...INVALID_REQUEST,
    status: 406,
    message: 'The Accept header rules out every media type this operation responds with.',
    meaning: '`Accept` rules out everything the operation responds with; see `available_media_types`.',
    remedy: 'Leave `Accept` out, or name one of `available_media_types` in it.',
    example: { available_media_types: ['application/json'] },
  },
  unsupported_media_type: {
    ...INVALID_REQUEST,
    status: 415,
    message: 'The body needs a Content-Type that the operation accepts.',
    hints: { accepted: 'It accepts {accepted_media_types}.' },
    meaning: 'The body has no `Content-Type`, or one that the operation does not accept; see `accepted_media_types`.',
    remedy: 'Send a `Content-Type` from `accepted_media_types`, usually `application/json`.',
    example: { accepted_media_types: ['application/json'] },
  },
  unsupported_content_encoding: {
    ...INVALID_REQUEST,
    status: 415,
    message: 'Compressed request bodies are not accepted.',
    meaning: 'The body is compressed.',
    remedy: 'Send the body without compression, and without `Content-Encoding`.',
  },
  unsupported_charset: {
    ...INVALID_REQUEST,
    status: 415,
    message: 'Bodies are UTF-8; another charset is not accepted.',
    meaning: 'The body is declared to have a charset other than UTF-8.',
    remedy: 'Encode the body as UTF-8, and name that charset or no charset.',
  },
  body_too_large: {
    ...INVALID_REQUEST,
    status: 413,
    closes: true,
    message: 'The body is larger than max_bytes.',
    meaning: 'The body is longer than `max_bytes`. The connection is closed.',
    remedy: 'Send less at once. `max_bytes` is the longest body that is accepted.',
    example: { max_bytes: 1_048_576 },
  },
  malformed_json: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The body is not one well-formed JSON text in UTF-8.',
    meaning: 'The body is not exactly one JSON text in UTF-8; `byte_offset` is the place of the first error.',
    remedy: 'Let a library write the JSON, and send its text unchanged as UTF-8.',
    example: { byte_offset: 27 },
  },
  malformed_form: {
    ...INVALID_REQUEST,
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
    example: { byte_offset: 27 },
  },
  duplicate_json_member: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'An object in the body has two fields of the same name.',
    meaning: 'An object in the body names a field twice, perhaps once with escapes.',
    remedy: 'Write each field of an object once.',
  },
  json_too_complex: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The body is nested too deeply or has too many fields.',
    meaning: 'The body is nested deeper than `max_depth` or has more fields than `max_members`.',
    remedy: 'Send a flatter body. No operation needs this depth.',
    example: { max_depth: 32 },
  },
  request_too_complex: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The request takes too long to be compared with the API contract.',
    meaning:
      'The contract describes a part of the request by alternatives, patterns or unique items that take too many steps to compare.',
    remedy:
      'Send less at once: fewer items, shorter texts, flatter objects. If the request is a usual one, tell support the `request_id`.',
  },
  body_missing: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'This operation requires a body.',
    meaning: 'The operation requires a body and none was sent.',
    remedy: 'Send the body that the [reference](/docs/reference) describes, with its `Content-Type`.',
  },
  validation_failed: {
    ...INVALID_REQUEST,
    status: 400,
    message: 'The request does not match the API contract; errors lists each violation.',
    meaning: 'Path, query, headers or body do not match the contract; `errors` lists every violation with its place.',
    remedy:
      'Correct every entry of `errors`: each names the place (`in`, `param`, `pointer`), what is wrong (`code`) and the rule (`constraint`).',
    example: {
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
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;
