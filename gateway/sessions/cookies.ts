// The cookies of browser sessions: reads them from a request, and writes the lines that set and clear them.

import { hash } from 'node:crypto';
import { cookieNameOf, loginCookiePrefix, sessionCookieName } from '../shared/http/session-cookies.ts';

/** 32 bytes in base64url. Its characters need no check, because the store has no hash of a value with other characters. */
const SESSION_VALUE_LENGTH = 43;

/**
 * Returns the value of the session cookie; undefined if there is none, or if its length is wrong. Returns undefined for two cookies of this
 * name, too, because another server or an attacker has set one of them, and the gateway cannot know which.
 */
export function sessionValueIn(header: string, isSecure: boolean): string | undefined {
  const name = sessionCookieName(isSecure);
  let found: string | undefined;
  // Searches the text first, because most requests have no such cookie, or no other cookie.
  for (let at = header.indexOf(name); at !== -1; at = header.indexOf(name, at + name.length)) {
    if (header[at + name.length] !== '=' || !beginsPair(header, at)) continue;
    if (found !== undefined) return undefined;
    const end = header.indexOf(';', at);
    found = header.slice(at + name.length + 1, end === -1 ? undefined : end).trim();
  }
  return found?.length === SESSION_VALUE_LENGTH ? found : undefined;
}

/** Returns the hash under which the store keeps a session, from the value of its cookie. */
export function hashOf(value: string): string {
  return hash('sha256', value, 'base64url');
}

function beginsPair(header: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && header[before] === ' ') before -= 1;
  return before < 0 || header[before] === ';';
}

/** Returns the values of the cookies of logins in progress, by the ends of the cookies' names. */
export function loginValuesIn(header: string, isSecure: boolean): ReadonlyMap<string, string> {
  const prefix = loginCookiePrefix(isSecure);
  const found = new Map<string, string>();
  if (!header.includes(prefix)) return found;
  for (const pair of header.split(';')) {
    const name = cookieNameOf(pair);
    if (name.startsWith(prefix)) found.set(name.slice(prefix.length), pair.slice(pair.indexOf('=') + 1).trim());
  }
  return found;
}

/**
 * Returns the line that sets the session cookie. The browser keeps the cookie until the browser is closed, because the gateway alone
 * decides how long a session lasts.
 */
export function sessionCookieLine(value: string, isSecure: boolean): string {
  return `${sessionCookieName(isSecure)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure(isSecure)}`;
}

export function clearedSessionCookieLine(isSecure: boolean): string {
  return `${sessionCookieName(isSecure)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0${secure(isSecure)}`;
}

/**
 * Returns the line that sets the cookie of a login. It has `SameSite=Lax`, because the browser must send it after the provider's redirect.
 * @param id the end of the cookie's name
 */
export function loginCookieLine(id: string, value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const name = loginCookiePrefix(isSecure) + id;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure(isSecure)}`;
}

export function clearedLoginCookieLine(id: string, isSecure: boolean): string {
  return loginCookieLine(id, '', 0, isSecure);
}

function secure(isSecure: boolean): string {
  return isSecure ? '; Secure' : '';
}
