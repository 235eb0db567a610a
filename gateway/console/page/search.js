// What the field at the top finds: ids say by their beginning what they are, a path by its slash, and a name is looked for everywhere.

import { addressOf, pageOf } from './addresses.js';
import { read } from './api.js';
import { searchText } from './organizations.js';
import { operationsFor } from './route-search.js';

/**
 * Resolves with the address of what a text names.
 *
 * @param upstreams the names of the upstreams
 * @param instances with names such as `vm:8482`, which may look like addresses of clients
 */
export async function addressFor(text, upstreams, instances) {
  const instance = instances.find(({ name }) => name === text);
  // A missing instance has no view of its own.
  if (instance !== undefined)
    return addressOf('system', { instance: instance.missing_since === undefined ? instance.id : undefined });
  if (text.startsWith('org_')) return pageOf('organizations', text);
  if (text.startsWith('key_')) return addressOf('requests', { key: text });
  if (text.startsWith('req_')) return pageOf('requests', text);
  if (text.startsWith('/')) return addressOf('routes', { find: text });
  if (/^\d+\.\d+\.\d+\.\d+$|^[\da-f:]*:[\da-f:.]*$/i.test(text)) return addressOf('requests', { client: text });
  if (upstreams.includes(text)) return pageOf('upstreams', text);
  const organization = searchText(text);
  // The page searches for a typed key only by its visible end.
  if (organization !== text) return addressOf('organizations', { find: organization });
  const [code, stories, found, known] = await Promise.all([
    read(`codes/${encodeURIComponent(text)}`),
    read(`exchanges/${encodeURIComponent(text)}`),
    read('organizations', { find: text }),
    read('routes'),
  ]);
  if (code !== undefined) return pageOf('codes', text);
  // Clients may name requests as they like.
  if (stories?.exchanges.length > 0) return pageOf('requests', text);
  if ((found?.organizations.length ?? 0) + (found?.keys.length ?? 0) > 0)
    return addressOf('organizations', { find: text });
  if (operationsFor(text, known?.routes ?? []).length > 0) return addressOf('routes', { find: text });
  return addressOf('requests', { searched: 1 }, text);
}
