// Proposes the health check of a new service.

import { serverPathsOf } from '../../contract/operations/servers.ts';
import { isHealthPath } from '../../shared/http/health-path.ts';
import type { FetchedDocument } from './fetch-document.ts';
import { documentPart } from './propose-entry.ts';

type Root = Pick<FetchedDocument, 'root'>;

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
