// The first page: how to send the first request, and links to everything else.

import { guideCards } from './guides.ts';
import type { Page } from './layout.ts';
import { codeBlock } from './markdown.ts';
import { type Reference, referenceCards } from './reference.ts';

export function landingPage(references: readonly Reference[], publicUrl: string): Page {
  const main = `<h1>Platform API</h1>
<p class="lead">One address, one key, one form of error. JSON over HTTP, described by OpenAPI.</p>
<h2 id="first">The first request</h2>
<p>Put the address and a key where your shell finds them. A key that begins with <code>sk_test_</code> reaches test data only.</p>
${codeBlock(`export API_URL=${publicUrl}\nexport API_KEY=…`, 'Shell')}
<p>Then ask for something:</p>
${codeBlock(`curl "$API_URL/v1/customers?limit=2" -H "Authorization: Bearer $API_KEY"`, 'Shell')}
<p>An answer that is not a success says why, and whether to send the request again: see <a href="/docs/guides/errors">errors</a>.</p>
<h2 id="reference">Reference</h2>
<p>Every operation with its parameters, bodies and answers, to read and to try.</p>
${referenceCards(references)}
<h2 id="guides">Guides</h2>
${guideCards()}
<h2 id="errors">Errors</h2>
<p><a href="/docs/errors">Every code</a> that a request can be refused with, and what to do about it.</p>`;
  const description = 'Documentation of the platform API: reference, guides and errors.';
  return { title: 'Documentation', description, section: '/docs', main };
}
