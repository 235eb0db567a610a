// Maps host names to sites. If no host names are configured, every name stands for the API, mail and JMAP.

import { GatewayError } from '../../catalogue/errors.ts';
import type { DownstreamRequest } from '../../exchange/downstream.ts';

/** The sites that can have their own host name. */
export type Site = 'api' | 'mail' | 'jmap' | 'panel' | 'autoconfig' | 'autodiscover' | 'mtaSts' | 'administration';

export type HostNames = Readonly<Partial<Record<Site, string | undefined>>>;

/** Returns the sites of a Host header; undefined for a host name that is not served. */
type SitesOf = (host: string | undefined) => ReadonlySet<Site> | undefined;

const ALL_SITES: ReadonlySet<Site> = new Set(['api', 'mail', 'jmap']);

/**
 * @param hosts host names in lower case without port; sites without a host name share the host of the API
 * @param publicUrl the URL whose host is the API's, unless the API has its own host name
 */
export function createSites(hosts: HostNames, publicUrl: string): SitesOf {
  if (Object.values(hosts).every((name) => name === undefined)) return () => ALL_SITES;
  const api = hosts.api ?? hostNameIn(new URL(publicUrl).host);
  const byName = new Map<string, Set<Site>>();
  const add = (name: string, site: Site) => byName.set(name, (byName.get(name) ?? new Set()).add(site));
  add(api, 'api');
  add(hosts.mail ?? api, 'mail');
  add(hosts.jmap ?? api, 'jmap');
  for (const site of ['panel', 'autoconfig', 'autodiscover', 'mtaSts', 'administration'] as const) {
    const name = hosts[site];
    if (name !== undefined) add(name, site);
  }
  // The last host and its sites. Each request calls this function three times, and most requests have the same host as the request before.
  let usual: string | undefined;
  let usualSites = byName.get(api);
  return (host) => {
    if (host !== usual) {
      usual = host;
      // HTTP/1.0 allows requests without Host.
      usualSites = byName.get(host === undefined ? api : hostNameIn(host));
    }
    return usualSites;
  };
}

/** Returns the URL at which clients reach a site. It is `publicUrl`, under the host name of the site if it has one. */
export function addressOfSite(hosts: HostNames, publicUrl: string): (site: Site) => string {
  return function addressOf(site) {
    const name = hosts[site];
    if (site === 'api' || name === undefined) return publicUrl;
    const address = new URL(publicUrl);
    address.hostname = name;
    return address.href.replace(/\/+$/, '');
  };
}

/**
 * Returns the refusal of a request for a host name that is not served. Its field `host` names the host to call instead, which links to the
 * documentation name, too.
 */
export function misdirectedError({ hosts, publicUrl }: { readonly hosts: HostNames; readonly publicUrl: string }) {
  return new GatewayError('misdirected_request', { fields: { host: hosts.api ?? new URL(publicUrl).host } });
}

/**
 * Returns the host that a request is addressed to. If its target has an authority, the authority replaces Host (RFC 9112 section 3.2.2).
 */
export function authorityOf(request: DownstreamRequest): string | undefined {
  const { url, fields } = request;
  const host = fields === undefined ? request.headers.host : fields.get('host');
  if (url?.startsWith('/')) return host;
  return /^https?:\/\/([^/?#]+)/i.exec(url ?? '')?.[1] ?? host;
}

/** Returns a host, which may have a port, in lower case and without the trailing dot of a fully qualified name. */
export function hostNameIn(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
}
