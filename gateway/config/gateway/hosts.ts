// The shape of `hosts` in gateway.yaml, which gives parts of the API their own host names on the same listener.

import { z } from 'zod';
import type { Mistake } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';

export const site = z.enum(['api', 'mail', 'jmap', 'panel', 'autoconfig', 'autodiscover', 'mtaSts', 'administration']);

const hostName = z
  .string()
  .regex(
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
    'must be a host name in lower case, without port and without a dot at its end',
  )
  .meta({ values: 'host name' });

/**
 * The host names. If there are none, the gateway serves every host name, but not the sites that need their own name. Otherwise it serves
 * only these names and the host of publicUrl.
 */
export const hosts = z.strictObject({
  api: hostName
    .optional()
    .describe(
      'The host name of the API. Default: the host of `publicUrl`. If any name is set under `hosts`, requests for other names get 421.',
    ),
  mail: hostName
    .optional()
    .describe('The host name of the administration and discovery of the mail server. Default: the name of the API.'),
  jmap: hostName.optional().describe('The host name of JMAP. Default: the name of the API.'),
  panel: hostName
    .optional()
    .describe('The host name of the panel of the mail server, which needs all paths of its host. Default: no panel.'),
  autoconfig: hostName
    .optional()
    .describe(
      'The host name at which mail programs look for their settings (`autoconfig.example.com`). Default: none.',
    ),
  autodiscover: hostName
    .optional()
    .describe('The host name at which Outlook looks for its settings (`autodiscover.example.com`). Default: none.'),
  mtaSts: hostName
    .optional()
    .describe('The host name of the MTA-STS policy, RFC 8461 (`mta-sts.example.com`). Default: none.'),
  administration: hostName
    .optional()
    .describe(
      "The host name of the gateway's own contract, for an entry with `hosts: [administration]` ([administration](administration.md)). Default: none.",
    ),
});

/** Sites that are served only under their own host name. */
const SEPARATE_SITES: ReadonlySet<HostName> = new Set([
  'panel',
  'autoconfig',
  'autodiscover',
  'mtaSts',
  'administration',
]);

export type Hosts = z.output<typeof hosts>;
export type HostName = z.output<typeof site>;

/** Refuses a panel on a shared host name, because the panel needs all paths of its host. Pushes mistakes. */
export function checkHosts(all: Hosts, publicUrl: string, source: Source, mistakes: Mistake[]): void {
  const { panel } = all;
  const others = site.options.filter((of) => of !== 'panel').map((of) => hostOfSite(of, all, publicUrl));
  if (panel === undefined || !others.includes(panel)) return;
  const reason = `"${panel}" is the host name of another site, and the panel needs all paths of its host.`;
  mistakes.push(source.mistakeAt(['hosts', 'panel'], reason, 'Give the panel a host name of its own.'));
}

/** Returns the host name of a site; undefined if the site is not served. */
export function hostOfSite(site: HostName, all: Hosts, publicUrl: string): string | undefined {
  return SEPARATE_SITES.has(site) ? all[site] : (all[site] ?? all.api ?? new URL(publicUrl).hostname);
}
