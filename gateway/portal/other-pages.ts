// The pages beside guides, reference and errors: limits, changes, agents and account.

import { accountPage } from './account.ts';
import { agentsPage } from './agents.ts';
import { changesEntries } from './changes/entries.ts';
import { changesPage } from './changes/page.ts';
import type { Page } from './layout.ts';
import { limitsPage } from './limits-page.ts';
import type { AddressedContract } from './reference/addresses.ts';
import type { PortalOptions } from './site.ts';

/** Returns the pages that the configuration has, in the order of their links. */
export function otherPagesOf(
  { limits, publications, hasAccount, agentsPath, help, publicUrl }: PortalOptions,
  references: readonly AddressedContract[],
  guides: ReadonlySet<string>,
  title: string,
): Page[] {
  const changes = changesPage(changesEntries(publications, references));
  return [
    ...(limits === undefined ? [] : [limitsPage(limits, references, guides.has('rate-limits'))]),
    ...(changes === undefined ? [] : [changes]),
    agentsPage({ path: agentsPath, publicUrl, title, references, guides }),
    ...(hasAccount ? [accountPage(references, help.contact)] : []),
  ];
}
