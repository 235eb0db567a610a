// Checks texts for header fields. Text from configuration and contracts is checked when it is loaded: an invalid header would end a request
// later, or throw in a timer or listener where it cannot be caught.

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
