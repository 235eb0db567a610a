// Finds the secrets of a client's request in the texts of the upstream's error, because some services repeat the input in their errors.
// Pure.

import type { ParsedError } from './error-dialects.ts';

/** Names of members that hold secrets. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)|secret|token|credential|api[-_]?key|private[-_]?key|\bpin\b|\bcv[cv]\b/i;
/** Shorter secrets are not searched for, because nearly every text would contain them. */
const SECRET_LENGTH_MIN = 4;
const SECRETS_MAX = 100;

/** Returns the secrets in a body of JSON or of a form: the values of members with the name of a secret. */
export function secretsIn(rawBody: Buffer | undefined, contentType: string | undefined): readonly string[] {
  const body = rawBody === undefined ? undefined : parseBody(rawBody.toString('utf8'), contentType ?? '');
  const found: string[] = [];
  const waiting: (readonly [value: unknown, isSecret: boolean])[] = [[body, false]];
  for (const [value, isSecret] of waiting) {
    if (found.length >= SECRETS_MAX) break;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = foldText(String(value));
      if (isSecret && text.length >= SECRET_LENGTH_MIN) found.push(text);
    } else if (Array.isArray(value)) for (const item of value) waiting.push([item, isSecret]);
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) waiting.push([member, isSecret || SECRET_NAME.test(name)]);
  }
  return found;
}

/** Returns an error without the texts that contain a secret. */
export function withoutSecrets(error: ParsedError, secrets: readonly string[]): ParsedError {
  if (secrets.length === 0) return error;
  // Each text is searched by itself, because JSON escapes characters of a secret.
  const isFree = (value: unknown): boolean =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flat().every(isFree)
      : !containsAny(String(value), secrets);
  const free = <T>(value: T): T | undefined => (isFree(value) ? value : undefined);
  const { param, errors } = (error.fields ?? {}) as { param?: unknown; errors?: readonly { message: string }[] };
  const kept = errors?.map((entry) => {
    if (isFree(entry)) return entry;
    const quiet = { ...entry, message: free(entry.message) ?? 'is not valid' };
    return isFree(quiet) ? quiet : { in: 'body', param: '', code: 'invalid', message: 'is not valid' };
  });
  return {
    ...error,
    code: free(error.code),
    message: free(error.message),
    ...(error.fields && { fields: { ...error.fields, param: free(param), ...(kept && { errors: kept }) } }),
  };
}

/**
 * Returns a form that is equal for texts that differ only in case or composition. The form is upper case, because lower case depends on the
 * context (ς), and decomposed (NFKD), because a composed character has several forms.
 */
export function foldText(text: string): string {
  return text.toUpperCase().normalize('NFKD').toUpperCase();
}

/** Whether a text contains one of these folded texts. */
export function containsAny(text: string, folded: readonly string[]): boolean {
  const haystack = foldText(text);
  return folded.some((part) => haystack.includes(part));
}

function parseBody(text: string, contentType: string): unknown {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
