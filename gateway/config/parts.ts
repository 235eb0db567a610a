// The building blocks of the configuration schemas. Their messages say what a value must be.

import { isIP } from 'node:net';
import { z } from 'zod';
import { isFieldName, isFieldText } from '../shared/http/words.ts';

/** Whether a text is the address of a server. Its path consists of unreserved characters, and has no dot segments. */
export function isServerAddress(text: string): boolean {
  const path = /^https?:\/\/[^/?#\s@*]+((?:\/[A-Za-z0-9._~-]+)*)\/?$/.exec(text)?.[1];
  return path !== undefined && URL.canParse(text) && new URL(text).pathname.replace(/\/$/, '') === path;
}

/** Returns the rule that the port of an address breaks; undefined if it has none, or a possible one. */
export function portRule(address: unknown): string | undefined {
  const [, port = '0'] = /^https?:\/\/[^/]*:(\d+)(?:\/|$)/.exec(String(address)) ?? [];
  return Number(port) > 65_535 ? 'must have a port that exists: ports end at 65535' : undefined;
}

export const whole = (what: string, min: number, max: number) =>
  z
    .int(outside(what, min, max))
    .min(min, outside(what, min, max))
    .max(max, outside(what, min, max));

/** The rule for values that become header text. */
export const HEADER_TEXT_RULE =
  'must be of visible ASCII characters, since it goes into a header: write others of an address as %C3%A9, those of a host name as xn--…';

const outside = (what: string, min: number, max: number) => `must be a whole number of ${what} from ${min} to ${max}`;

/** The name of a header, in lower case. */
export const fieldName = z
  .string()
  .refine(isFieldName, 'must be the name of a header')
  .transform((name) => name.toLowerCase());

// `pattern` is for editors, which cannot run refinements. The pattern must not refuse a value that the gateway accepts.
export const httpUrl = z
  .string()
  .refine(isFieldText, { error: HEADER_TEXT_RULE, abort: true })
  .refine((text) => isHttpUrl(text) && /^https?:\/\/[\w.:[\]-]+\/?$/.test(text), {
    error: ({ input }) =>
      portRule(input) ?? 'must be an http:// or https:// address without a path, such as https://api.example.com',
  })
  .meta({
    pattern: '^https?://[A-Za-z0-9_.:\\[\\]-]+/?$',
    values: '`http://` or `https://` address without path, ASCII',
  });
export const cidr = z
  .string()
  .refine(isCidr, {
    error: ({ input }) => {
      const isLong = Number(/^[\d.]+\/(\d+)$/.exec(String(input))?.[1]) > 32;
      return `must be an address or a CIDR range such as 10.0.0.0/8${isLong ? '; prefixes of IPv4 end at /32' : ''}`;
    },
  })
  .meta({ pattern: '^([0-9.]+(/([12]?[0-9]|3[0-2]))?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?)$' });
export const name = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'must be letters, digits, hyphens and underscores, beginning with a letter');
/**
 * The message for a wrong name of a secrets entry. It does not repeat the value, because an operator may have written the secret itself
 * there.
 */
export const SECRET_ENTRY_RULE = 'must be the name of a secrets entry: lower-case letters, digits and underscores';
export const secretEntry = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, SECRET_ENTRY_RULE)
  .meta({ values: 'entry of the secrets store' });
export const scope = z
  .string()
  .regex(
    /^([a-z][a-z0-9_-]*:(read|write)|gateway:[a-z]+(:(read|write))?)$/,
    'must be a scope of the form <resource>:read or <resource>:write',
  );

export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/?#\s@]+\/?$/.test(text) && URL.canParse(text);
}

function isCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0) return false;
  const version = address.includes('%') ? 0 : isIP(address);
  const max = version === 4 ? 32 : 128;
  return version !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= max));
}
