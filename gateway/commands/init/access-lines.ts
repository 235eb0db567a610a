// Writes the lines of `gateway init --from` about access: the credential that the service asks for, and operations that are public in the
// document but need a key at the gateway. Pure.

import { join } from 'node:path';
import type { Configuration } from '../../configuration.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { isPublicInDocument } from '../../contract/operations/security.ts';
import { shownPath } from '../../shared/file-text.ts';
import { isRecord } from '../../shared/is-record.ts';
import { firstNames } from '../../shared/text.ts';
import { UNSENT_REMEDY } from '../upstreams/scheme-parts.ts';
import { unmetRequirement, type WantedCredential } from '../upstreams/wanted-credential.ts';
import type { Directories, ProposedService } from './propose-service.ts';

const NAMED_MAX = 3;

/**
 * Returns the steps that make the gateway send the credential. @param isAsked whether the service has refused a request without the
 * credential
 */
export function credentialLines(
  name: string,
  { asked, secret, value }: WantedCredential,
  { config }: Directories,
  { isAsked, isTried }: { readonly isAsked: boolean; readonly isTried: boolean },
): string[] {
  return [
    '',
    `${isAsked ? 'The service asks' : 'By its document, the service asks'} for ${asked}. To let the gateway send it:`,
    `  1. Uncomment the line "credential:" of ${name} in ${shownPath(join(config, 'upstreams.yaml'))}.`,
    `  2. export ${secret.toUpperCase()}=${value} before the commands below, or put the value into the file ${secret} of SECRETS_DIR.`,
    ...(isTried ? [] : ['The first request below does not try it: no operation that only reads needs it.']),
  ];
}

/** Says what the gateway cannot send to the service. Returns nothing if it can send what the document requires. */
export function unsentLines({ contracts }: Pick<Configuration, 'contracts'>, { name }: ProposedService): string[] {
  const own = contracts.operations.find(({ operation }) => operation.entry === name);
  const unmet = own && unmetRequirement(own.document.root);
  if (unmet === undefined) return [];
  return ['', `By its document, the service asks for ${unmet}, which the gateway cannot send. ${UNSENT_REMEDY}`];
}

/** Names the operations that the document declares public, and the setting that makes them public at the gateway. */
export function publicLines(
  { contracts }: Pick<Configuration, 'contracts'>,
  { name, entry }: ProposedService,
  directories: Directories,
): string[] {
  const kept = contracts.operations.filter((one) => one.operation.entry === name && needsKeyHereOnly(one));
  const [first] = kept;
  if (first === undefined) return [];
  const named = kept.map(({ operation: { method, path } }) => `${method} ${path}`);
  const [are, need, it] = kept.length === 1 ? ['is', 'needs', 'it'] : ['are', 'need', 'one'];
  const { contracts: files } = entry;
  const file = shownPath(join(directories.contracts, files[0] ?? ''));
  const leftOut = `operations: { ${JSON.stringify(first.operation.id)}: { serve: false } }`;
  return [
    '',
    `${firstNames(named, NAMED_MAX)} ${are} public in the document, and ${need} a key here. To keep ${it} public, write "x-gateway-public: true" into the operation in ${file}; to leave ${it} out, write ${leftOut} into the entry ${name}.`,
  ];
}

function needsKeyHereOnly({ operation, document, located }: ContractOperation): boolean {
  return operation.security.length > 0 && isRecord(located.value) && isPublicInDocument(document.root, located.value);
}
