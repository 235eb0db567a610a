// Proposes how the gateway reaches a service that is added: the path of its health check, and the credential that its document asks for.

import { serverPathsOf } from '../../contract/operations/servers.ts';
import { isHealthPath } from '../../shared/http/health-path.ts';
import { mayCarryCredential } from '../../shared/http/owned-headers.ts';
import { isFieldName } from '../../shared/http/words.ts';
import type { FetchedDocument } from './fetch-document.ts';
import { documentPart } from './propose-entry.ts';

type Root = Pick<FetchedDocument, 'root'>;

/** A credential that the document says its service asks for. */
export interface WantedCredential {
  /** The value of `credential` in upstreams.yaml. */
  readonly setting: string;
  /** The entry of the secrets store. */
  readonly secret: string;
  /** As the end of a sentence: what the service asks for. */
  readonly asked: string;
}

/** The first credential of the document that the gateway could send; undefined if it declares none. */
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

/** The path of the document's health check, as the service has it; undefined if it has none without parameters. */
export function healthPathOf({ root }: Root): string | undefined {
  const path = Object.entries(documentPart(root.paths)).find(
    ([one, item]) => isHealthPath(one) && /^\/[!-~]*$/.test(one) && !one.includes('{') && 'get' in documentPart(item),
  )?.[0];
  return path === undefined ? undefined : serverPathsOf(root).used + path;
}

const TIMEOUT_MS = 10_000;

/** Whether a health check of this path would succeed now. One that fails from the first request on would take the service out. */
export async function isHealthy(live: string, path: string): Promise<boolean> {
  try {
    const response = await fetch(live + path, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
