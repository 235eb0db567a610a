// Proposes the settings with which the gateway reaches a new service: the path of the health check, and the credential.

import { serverPathsOf } from '../../contract/operations/servers.ts';
import { isHealthPath } from '../../shared/http/health-path.ts';
import { mayCarryCredential } from '../../shared/http/owned-headers.ts';
import { isFieldName } from '../../shared/http/words.ts';
import type { FetchedDocument } from './fetch-document.ts';
import { documentPart } from './propose-entry.ts';

type Root = Pick<FetchedDocument, 'root'>;

/** A credential that a service asks for, by its document. */
export interface WantedCredential {
  /** The value of `credential` in upstreams.yaml. */
  readonly setting: string;
  /** The entry of the secrets store. */
  readonly secret: string;
  /** The credential in words, as in `a user name and a password`. */
  readonly asked: string;
}

/** Returns the first credential of the document that the gateway can send; undefined if there is none. */
export function wantedCredential(name: string, { root }: Root): WantedCredential | undefined {
  const schemes = {
    ...documentPart(root.securityDefinitions),
    ...documentPart(documentPart(root.components).securitySchemes),
  };
  const word = name.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  for (const scheme of Object.values(schemes).map(documentPart)) {
    const [kind, header] = [String(scheme.scheme ?? scheme.type).toLowerCase(), String(scheme.name)];
    if (
      scheme.type === 'apiKey' &&
      scheme.in === 'header' &&
      isFieldName(header) &&
      mayCarryCredential(header.toLowerCase())
    )
      return toWanted(
        `${word}_key`,
        (secret) => `{ apiKey: { header: ${header}, secret: ${secret} } }`,
        `a key in ${header}`,
      );
    if (kind === 'bearer')
      return toWanted(
        `${word}_token`,
        (secret) => `{ bearer: { secret: ${secret} } }`,
        'a token in Authorization: Bearer',
      );
    if (kind === 'basic')
      return toWanted(
        `${word}_password`,
        (secret) => `{ basic: { user: gateway, secret: ${secret} } }`,
        'a user name and a password',
      );
  }
  return undefined;
}

function toWanted(entry: string, setting: (secret: string) => string, asked: string): WantedCredential {
  const secret = entry.slice(0, 64);
  return { setting: setting(secret), secret, asked };
}

/** Returns the path of the health check at the service; undefined if the document has no health check without parameters. */
export function healthPathOf({ root }: Root): string | undefined {
  const path = Object.entries(documentPart(root.paths)).find(
    ([one, item]) => isHealthPath(one) && /^\/[!-~]*$/.test(one) && !one.includes('{') && 'get' in documentPart(item),
  )?.[0];
  return path === undefined ? undefined : serverPathsOf(root).used + path;
}

const TIMEOUT_MS = 10_000;

/** Whether a health check with this path succeeds now. If the path failed, the gateway would send no requests to the service. */
export async function isHealthy(live: string, path: string): Promise<boolean> {
  try {
    const response = await fetch(live + path, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
