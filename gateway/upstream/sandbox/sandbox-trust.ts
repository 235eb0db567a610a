// Tells the sandbox which keys and which administrator to trust, by files next to the databases of the sandbox. A process that can only
// reach the ports of the sandbox cannot change these files.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Public keys that verify assertions. */
export interface Jwks {
  readonly keys: readonly { readonly kid: string }[];
}

const fileIn = (directory: string) => join(directory, 'jwks.json');
const administratorIn = (directory: string) => join(directory, 'mail-administrator');

/** Makes the sandbox of a directory trust exactly these keys. The file is replaced atomically, so the sandbox never reads a part of it. */
export function writeTrusted(directory: string, jwks: Jwks): void {
  replace(fileIn(directory), JSON.stringify(jwks));
}

/** Makes `user:password` the only administrator of the sandbox's mail server. */
export function writeAdministrator(directory: string, administrator: string): void {
  replace(administratorIn(directory), administrator);
}

/**
 * Whether the sandbox trusts at least one of these keys. Gateways that share their keys always have a key in common, even if some of them
 * have not noticed a rotation yet.
 */
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
