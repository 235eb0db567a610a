// Which keys of the gateway are trusted: those in a file beside the database, which the gateways write whenever they rotate their
// keys. A process that can write there can read the database as well; a client of the port cannot change the keys.
import { readFileSync } from 'node:fs';
import type { JSONWebKeySet } from 'jose';

/** Reads the file again at every call, and answers the same object for as long as the text is the same. Throws if it is not there. */
export function createTrust(path: string): () => JSONWebKeySet {
  let known: { readonly text: string; readonly jwks: JSONWebKeySet } | undefined;
  return function trusted() {
    const text = readFileSync(path, 'utf8');
    if (known?.text !== text) known = { text, jwks: JSON.parse(text) as JSONWebKeySet };
    return known.jwks;
  };
}
