// Which keys the sandbox trusts: a file beside its database, that it believes and nobody who merely reaches its port.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Public keys of assertions. */
export interface Jwks {
  readonly keys: readonly { readonly kid: string }[];
}

const fileIn = (directory: string) => join(directory, 'jwks.json');

/** Has the sandbox of a directory trust these keys and no others. It reads all of the new file or of the old one, never a part. */
export function writeTrusted(directory: string, jwks: Jwks): void {
  const text = JSON.stringify(jwks);
  if (readText(directory) === text) return;
  mkdirSync(directory, { recursive: true });
  const draft = `${fileIn(directory)}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, fileIn(directory));
}

/** Whether it trusts at least one of these: gateways that share keys do, whichever of them heard of a rotation first. */
export function trusts(directory: string, jwks: Jwks): boolean {
  const text = readText(directory);
  if (text === undefined) return false;
  const trusted = new Set((JSON.parse(text) as Jwks).keys.map(({ kid }) => kid));
  return jwks.keys.some(({ kid }) => trusted.has(kid));
}

function readText(directory: string): string | undefined {
  try {
    return readFileSync(fileIn(directory), 'utf8');
  } catch {
    return undefined;
  }
}
