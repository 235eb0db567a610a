// What the field at the top finds: ids say by their beginning what they are, a path by its slash, and a name is looked for everywhere.

import { addressOf, pageOf } from './addresses.js';
import { read } from './api.js';
import { searchText } from './organizations.js';
import { operationsFor } from './route-search.js';

/**
 * Resolves with the address of what a text names.
 *
 * @param feed the latest answer, if there is one. Its instances have names such as `vm:8482`, which may look like addresses of clients
 */
export async function addressFor(text, { status, instances = [] } = {}) {
  const instance = instances.find(({ name }) => name === text);
  // A missing instance has no view of its own.
  if (instance !== undefined)
    return addressOf('system', { instance: instance.missing_since === undefined ? instance.id : undefined });
  if (text.startsWith('org_')) return pageOf('organizations', text);
  if (text.startsWith('key_')) return addressOf('requests', { key: text });
  if (text.startsWith('req_')) return pageOf('requests', text);
  const upstream = upstreamOf(text, Object.entries(status?.upstreams ?? {}));
  if (upstream !== undefined) return pageOf('upstreams', upstream);
  if (text.startsWith('/')) return routesFor(text, await read('routes')) ?? addressOf('routes', { find: text });
  if (/^\d+\.\d+\.\d+\.\d+$|^[\da-f:]*:[\da-f:.]*$/i.test(text)) return addressOf('requests', { client: text });
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
  const { organizations = [], keys = [] } = found ?? {};
  if (organizations.length === 1 && keys.length === 0) return pageOf('organizations', organizations[0].id);
  if (organizations.length + keys.length > 0) return addressOf('organizations', { find: text });
  return routesFor(text, known) ?? addressOf('requests', { searched: 1 }, text);
}

/** Returns the upstream of this name, or the first one with a target of this address, or one that fails with this error. */
function upstreamOf(text, upstreams) {
  const isOf = ({ address, last_error: error }) =>
    [address, address?.replace(/^\w+:\/\//, ''), ...(error?.split(' ') ?? [])].includes(text);
  const found =
    upstreams.find(([name]) => name === text) ?? upstreams.find(([, { targets = [] }]) => targets.some(isOf));
  return found?.[0];
}

/** Returns the page of the only operation that fits, or the list of several; undefined if none does. */
function routesFor(text, known) {
  const [first, ...more] = operationsFor(text, known?.routes ?? []);
  if (first === undefined) return undefined;
  return more.length > 0 ? addressOf('routes', { find: text }) : pageOf('operations', `${first.method} ${first.path}`);
}
