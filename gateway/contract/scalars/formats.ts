// Checks string and number formats, each in linear time. Uses ajv-formats, with own checks for the formats that are not linear there.

import formats from 'ajv-formats/dist/formats.js';
import { takeSteps } from '../schemas/check-scope.ts';
import { isInt64 } from './exact-numbers.ts';

/** Returns whether a value has the format. */
type FormatCheck = (value: never) => boolean;

/** Longer expressions are refused, because compiling one takes time quadratic in its length. */
export const REGEX_LENGTH_MAX = 1000;

const LABEL = '(?:[a-z0-9\\u{a1}-\\u{ffff}]+-)*[a-z0-9\\u{a1}-\\u{ffff}]+';
const NAMED_HOST = `${LABEL}(?:\\.${LABEL})*\\.[a-z\\u{a1}-\\u{ffff}]{2,}`;
/** Public IPv4 addresses only, as in ajv-formats. */
const ADDRESS =
  '(?!(?:10|127)(?:\\.\\d{1,3}){3})(?!(?:169\\.254|192\\.168)(?:\\.\\d{1,3}){2})(?!172\\.(?:1[6-9]|2\\d|3[01])(?:\\.\\d{1,3}){2})' +
  '(?:[1-9]\\d?|1\\d\\d|2[01]\\d|22[0-3])(?:\\.(?:1?\\d{1,2}|2[0-4]\\d|25[0-5])){2}\\.(?:[1-9]\\d?|1\\d\\d|2[0-4]\\d|25[0-4])';
const URL_AFTER_USER = new RegExp(`^(?:${ADDRESS}|${NAMED_HOST})(?::\\d{2,5})?(?:/|$)`, 'iu');
const URL_SCHEME = /^(?:https?|ftp):\/\//i;

/**
 * Accepts the URLs that ajv-formats accepts, whose single expression takes cubic time because the user name may end at any `@`. This
 * function tries each `@` separately; a host name ends before the next `@`.
 */
function isUrl(text: string): boolean {
  const scheme = URL_SCHEME.exec(text)?.[0];
  if (scheme === undefined || /\s/.test(text)) return false;
  let start = scheme.length;
  for (const part of text.slice(start).split('@')) {
    const isLast = start + part.length === text.length;
    const hasUser = start > scheme.length;
    // A second @ is allowed only after a slash, where it has no meaning. A user name must not be empty.
    const canEnd = (isLast || part.includes('/')) && !(hasUser && start === scheme.length + 1);
    if (canEnd && URL_AFTER_USER.test(part)) return true;
    start += part.length + 1;
  }
  return false;
}

function isRegex(text: string): boolean {
  return text.length <= REGEX_LENGTH_MAX && (formats.fullFormats.regex as (text: string) => boolean)(text);
}

/** Whether a text is Base64 with its padding, in one line or several (RFC 4648 section 4, RFC 2045 section 6.8). */
function isBase64(text: string): boolean {
  const joined = text.replace(/\r?\n/g, '');
  const padding = joined.endsWith('==') ? 2 : joined.endsWith('=') ? 1 : 0;
  return joined.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(joined.slice(0, joined.length - padding));
}

const OWN_FORMATS: Readonly<Record<string, FormatCheck>> = { url: isUrl, regex: isRegex, byte: isBase64 };

/** Returns the check of a format for values of a type; undefined if the format does not apply to the type. */
export function formatCheck(name: string, type: 'string' | 'number'): FormatCheck | undefined {
  if (Object.hasOwn(OWN_FORMATS, name))
    return type === 'string' ? countSteps(OWN_FORMATS[name] as FormatCheck) : undefined;
  if (name === 'int64') return type === 'number' ? isInt64 : undefined;
  if (!Object.hasOwn(formats.fullFormats, name)) return undefined;
  const format = formats.fullFormats[name as keyof typeof formats.fullFormats] as Definition;
  if (format === true || typeOf(format) !== type) return undefined;
  return countSteps(unlessTooLong(checkOf(format)));
}

type Definition = true | RegExp | FormatCheck | { readonly type?: 'number'; readonly validate: RegExp | FormatCheck };

function typeOf(format: Exclude<Definition, true>): 'string' | 'number' {
  return 'validate' in format && format.type === 'number' ? 'number' : 'string';
}

function checkOf(format: Exclude<Definition, true>): FormatCheck {
  const check = 'validate' in format ? format.validate : format;
  return check instanceof RegExp ? (text: string) => check.test(text) : check;
}

/** Makes a check spend steps. The slower checks take some eight steps for a character. */
function countSteps(check: FormatCheck): FormatCheck {
  return (value) => {
    takeSteps(4 + 8 * ((value as string).length ?? 0));
    return check(value);
  };
}

/** Very long texts can exceed the stack of the regular expression engine, and are treated as not matching. */
function unlessTooLong(check: FormatCheck): FormatCheck {
  return function checkWithinStack(value) {
    try {
      return check(value);
    } catch {
      return false;
    }
  };
}
