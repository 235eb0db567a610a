// The rules of HTTP for methods, statuses, texts in header fields, and media types of streams. Text from the configuration and from
// contracts is checked when it is loaded. Otherwise an invalid header would end a request later, or throw in a timer or listener, where it
// cannot be caught.

/** Methods of requests for a resource. CONNECT is not among them, because it requests a connection. */
export const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'] as const;

/** The idempotent methods of RFC 9110 section 9.2.2, and QUERY (RFC 10008). */
const IDEMPOTENT_METHODS = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);

/** Whether a request of this method may be sent again after it may have been processed. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/** Whether a status refuses the login of a request, at a server (401) or a proxy (407). A 403 may concern this one request. */
export function isLoginRefusal(status: number): boolean {
  return status === 401 || status === 407;
}

/**
 * Whether a text can be a field value: visible ASCII, with spaces and tabs only between words (RFC 9110 section 5.5, without `obs-text`).
 */
export function isFieldText(text: string): boolean {
  return /^[!-~](?:[\t -~]*[!-~])?$/.test(text);
}

/** Whether a text is a token, the form of header field names (RFC 9110 section 5.6.2). */
export function isFieldName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** Returns a path for a Link header, in which `<`, `>`, `"`, and characters that are not visible ASCII, are percent-encoded. */
export function pathInLink(path: string): string {
  return path.toWellFormed().replace(/[^!-~]+|[<>"]/gu, encodeURIComponent);
}

/** A stream is a sequence of items, each of which a client wants when it arrives. */
type KindOfAnswer = 'events' | 'lines';

const ANSWER_KINDS: ReadonlyMap<string, KindOfAnswer> = new Map([
  ['text/event-stream', 'events'],
  ['application/x-ndjson', 'lines'],
  ['application/ndjson', 'lines'],
  ['application/jsonl', 'lines'],
  ['application/x-jsonlines', 'lines'],
  ['application/json-seq', 'lines'],
]);

/** Returns the kind of stream of a Content-Type; undefined for other answers. Most answers need one comparison. */
export function streamKindOf(contentType: string | undefined): KindOfAnswer | undefined {
  if (contentType === undefined || contentType === 'application/json') return undefined;
  const semicolon = contentType.indexOf(';');
  return ANSWER_KINDS.get((semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase());
}
