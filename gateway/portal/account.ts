// Makes the page "Your account". With a key that the reader pastes, or with the test key of the tab, a script calls the operations of
// `/gateway/v1`. The page shows organization, limits, usage, recent requests and keys, or only the requests. The served page contains no
// data of an organization.

import { firstKeyText } from './first-key.ts';
import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';
import { renderLine } from './markdown.ts';
import type { AddressedContract } from './reference/addresses.ts';

/** The operations that the page uses, in the order of its sections. */
const OPERATIONS = [
  'getOrganization',
  'getLimits',
  'getUsage',
  'listRequests',
  'explainRequest',
  'listKeys',
  'createKey',
  'rotateKey',
  'revokeKey',
] as const;

const DESCRIPTION = 'Your organization, its limits and use, your last requests, and your keys.';

/** Returns the page. @param contact the web or `mailto:` address for a first key; undefined if the configuration names none */
export function accountPage(references: readonly AddressedContract[], contact: string | undefined): Page {
  const main = `<h1>Your account</h1>
<p class="lead">${DESCRIPTION}</p>
<p class="account-unscripted">This page needs JavaScript. Everything on it can be asked for by HTTP, too: see the operations in
<a href="/docs/account.md">this page as Markdown</a>.</p>
<form id="account-form" class="key-box needs-script" autocomplete="off">
<label for="account-key">Your key</label>
<div class="key-row"><input id="account-key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="sk_live_…" aria-describedby="account-note">
<button type="submit" class="primary">Show</button><button type="button" id="account-forget" hidden>Forget</button></div>
<p id="account-note">Every key explains its own requests. A live key with the scope <code>gateway:read</code> shows all of this page. It stays in
the memory of this page until you leave it, and is sent to this API only. No key yet? ${renderLine(firstKeyText(contact))}</p>
</form>
<p id="account-status" class="quiet" role="status"></p>
<div id="account" data-scopes="${escapeHtml(scopesOf(references).join(' '))}" hidden></div>
<dialog id="account-dialog" class="account-dialog" aria-labelledby="account-dialog-title"></dialog>`;
  return {
    path: '/docs/account',
    title: 'Your account',
    description: DESCRIPTION,
    section: '/docs/account',
    main,
    markdown: markdownOf(references, contact),
    hasOwnKey: true,
    styles: ['account.css'],
    scripts: ['account.js'],
  };
}

/** Returns the scopes with which a key may be created. */
function scopesOf(references: readonly AddressedContract[]): string[] {
  const all = references.flatMap(({ operations }) =>
    operations
      .filter(({ isForOperators }) => !isForOperators)
      .flatMap(({ operation }) => operation.security.flatMap(({ scopes }) => scopes)),
  );
  return [...new Set(all)].sort();
}

function markdownOf(references: readonly AddressedContract[], contact: string | undefined): string {
  const all = references.flatMap(({ operations }) => operations);
  const lines = OPERATIONS.flatMap((id) => {
    const found = all.find(({ operation }) => operation.id === id && operation.path.startsWith('/gateway/v1/'));
    return found === undefined
      ? []
      : [`- [${found.title}](${found.path}.md): \`${found.operation.method} ${found.operation.path}\``];
  });
  return `# Your account

${DESCRIPTION} The page at /docs/account asks for it in a browser, with a live key that has the scope \`gateway:read\`; creating, rotating and
revoking keys needs \`gateway:keys\`. Neither is part of \`*\`. Every key, also a test key, lists and explains the requests that were sent
with it. The key stays in the memory of the page. ${firstKeyText(contact)}

The same by HTTP:

${lines.join('\n')}
`;
}
