// Checks the keys of one entry of upstreams.yaml that decide which credentials reach its service.

import { credentialFieldsOf, isSpellingOf } from '../../shared/http/owned-headers.ts';
import { objectAt } from '../../shared/is-record.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import type { UpstreamEntry } from './upstreams-file.ts';

/** Adds a mistake for each key of an entry that contradicts its `credential`. */
export function checkCredentials(name: string, entry: UpstreamEntry, source: Source, mistakes: Mistake[]): void {
  const written = objectAt(objectAt(source.value, 'upstreams'), name);
  if (entry.basicForClients && objectAt(written, 'credential').basic === undefined) {
    const reason = 'the upstream has no user name and password that clients could present.';
    const remedy = 'Add credential: { basic: { user, secret } }, or remove basicForClients.';
    mistakes.push(source.mistakeAtKey(['upstreams', name, 'basicForClients'], reason, remedy));
  }
  checkHeader(name, entry, source, mistakes);
  checkForwarding(name, entry, source, mistakes);
}

/** Refuses request headers with which a client could replace the credential of the gateway. */
function checkHeader(name: string, { credential, requestHeaders }: UpstreamEntry, source: Source, mistakes: Mistake[]) {
  const headers = credential && credentialFieldsOf(credential);
  const index = requestHeaders.findIndex((one) => isSpellingOf(one, headers));
  if (index === -1) return;
  const reason = 'the gateway sends its credential in this header, and no value of a client.';
  const remedy = 'Remove it here, or choose another header for the credential.';
  mistakes.push(source.mistakeAt(['upstreams', name, 'requestHeaders', index], reason, remedy));
}

/** Refuses settings that send other credentials to the service of an entry that forwards tokens. */
function checkForwarding(name: string, entry: UpstreamEntry, source: Source, mistakes: Mistake[]): void {
  if (entry.authorization !== 'forward') return;
  const at = (reason: string, remedy: string) =>
    mistakes.push(source.mistakeAt(['upstreams', name, 'authorization'], reason, remedy));
  if (entry.credential !== undefined)
    at('the entry has a credential, which the service gets in its place.', 'Remove authorization or credential.');
  if (entry.tunnels.length > 0)
    at('tunnels pass every credential of a client, API keys too.', 'Put the tunnels into an entry of their own.');
}
