// What a header can carry. Text from configuration and contracts that can get into one is held to this when it is loaded: later it would
// end a request, or be made by a timer or a listener where nothing catches what is thrown.

/** Visible ASCII characters, with spaces and tabs between them only (RFC 9110 section 5.5, without its obsolete part). */
export function isFieldText(text: string): boolean {
  return /^[!-~](?:[\t -~]*[!-~])?$/.test(text);
}

/** A token: what names of header fields consist of (RFC 9110 section 5.6.2). */
export function isFieldName(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text);
}

/** A path as it can stand in a link: what is not visible ASCII, and what ends a link, is percent-encoded. */
export function pathInLink(path: string): string {
  return path.toWellFormed().replace(/[^!-~]+|[<>"]/gu, encodeURIComponent);
}
