// Pure: reads an Authorization header as the mail server does, which distinguishes "nothing usable" from "malformed".

export type MailCredentials =
  | { readonly kind: 'none' | 'malformed' | 'otherScheme' }
  | { readonly kind: 'basic'; readonly name: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string };

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A value without a space counts as none at all. */
export function parseMailAuthorization(header: string | undefined): MailCredentials {
  const space = header?.indexOf(' ') ?? -1;
  if (header === undefined || space === -1) return { kind: 'none' };
  const [scheme, value] = [header.slice(0, space).toLowerCase(), header.slice(space + 1).trim()];
  if (scheme === 'bearer') return { kind: 'bearer', token: value };
  if (scheme !== 'basic') return { kind: 'otherScheme' };
  const pair = parsePair(value);
  return pair ? { kind: 'basic', ...pair } : { kind: 'malformed' };
}

/** Base64 of `name:secret`; the name is trimmed and lower-cased. */
export function parsePair(text: string): { readonly name: string; readonly password: string } | undefined {
  const pair = BASE64.test(text) ? decodeText(Buffer.from(text, 'base64')) : undefined;
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === undefined || colon === -1) return undefined;
  return { name: pair.slice(0, colon).trim().toLowerCase(), password: pair.slice(colon + 1) };
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
