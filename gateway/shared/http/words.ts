// What HTTP says of methods and statuses, of texts in header fields, and of media types whose answers are streams. Text from configuration
// and contracts is checked when it is loaded: an invalid header would end a request later, or throw in a timer or listener where it cannot
// be caught.

/** Methods of requests for a resource: without CONNECT, which asks for a connection. */
export const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'] as const;

/** RFC 9110 section 9.2.2, and RFC 10008 for QUERY. */
const idempotentMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);

/** Whether a request of this method may be sent again after it may have been processed. */
export function isIdempotent(method: string): boolean {
  return idempotentMethods.has(method);
}

/** Whether a status refuses the login of a request, at a server (401) or a proxy (407). A 403 may concern this one request. */
export function isLoginRefusal(status: number): boolean {
  return status === 401 || status === 407;
}

/** Visible ASCII characters, with spaces and tabs between them only (RFC 9110 section 5.5, without its obsolete part). */
export function isFieldText(text: string): boolean {
  return /^[!-~](?:[\t -~]*[!-~])?$/.test(text);
}

/** A token, the form of header field names (RFC 9110 section 5.6.2). */
export function isFieldName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** A path for use in a Link header: characters that are not visible ASCII, and `<`, `>` and `"`, are percent-encoded. */
export function pathInLink(path: string): string {
  return path.toWellFormed().replace(/[^!-~]+|[<>"]/gu, encodeURIComponent);
}

/** A stream is a sequence of items; a client wants each one when it arrives. */
type KindOfAnswer = 'events' | 'lines';

const kinds: ReadonlyMap<string, KindOfAnswer> = new Map([
  ['text/event-stream', 'events'],
  ['application/x-ndjson', 'lines'],
  ['application/ndjson', 'lines'],
  ['application/jsonl', 'lines'],
  ['application/x-jsonlines', 'lines'],
  ['application/json-seq', 'lines'],
]);

/** The kind of stream of a Content-Type; undefined for all other answers. One comparison for most of them. */
export function streamKindOf(contentType: string | undefined): KindOfAnswer | undefined {
  if (contentType === undefined || contentType === 'application/json') return undefined;
  const semicolon = contentType.indexOf(';');
  return kinds.get((semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase());
}
