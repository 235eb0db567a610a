// Whom the sandbox trusts: files beside its databases, that it believes and nobody who merely reaches its ports.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Public keys of assertions. */
export interface Jwks {
  readonly keys: readonly { readonly kid: string }[];
}

const fileIn = (directory: string) => join(directory, 'jwks.json');
const administratorIn = (directory: string) => join(directory, 'mail-administrator');

/** Has the sandbox of a directory trust these keys and no others. It reads all of the new file or of the old one, never a part. */
export function writeTrusted(directory: string, jwks: Jwks): void {
  replace(fileIn(directory), JSON.stringify(jwks));
}

/** Has the mail server of a sandbox let this administrator in, `user:password`, and nobody else. */
export function writeAdministrator(directory: string, administrator: string): void {
  replace(administratorIn(directory), administrator);
}

/** Whether it trusts at least one of these: gateways that share keys do, whichever of them heard of a rotation first. */
export function trusts(directory: string, jwks: Jwks): boolean {
  const text = readText(fileIn(directory));
  if (text === undefined) return false;
  const trusted = new Set((JSON.parse(text) as Jwks).keys.map(({ kid }) => kid));
  return jwks.keys.some(({ kid }) => trusted.has(kid));
}

function replace(path: string, text: string): void {
  if (readText(path) === text) return;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
