// The pages for unknown paths of the documentation.

import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';

export function notFoundPage(): Page {
  const main = `<h1>There is nothing here</h1>
<p class="lead">The documentation begins at <a href="/docs">/docs</a>.</p>`;
  return {
    path: '/docs',
    title: 'Not found',
    description: 'There is nothing at this path.',
    section: '/docs',
    main,
    markdown: '',
  };
}

/** Returns the page of a code that is not in the catalogue. */
export function unknownCodePage(code: string): Page {
  const main = `<h1><code>${escapeHtml(code)}</code></h1>
<p class="lead">This code is not one of the <a href="/docs/errors">catalogue</a>.</p>
<p>A service behind the API may refuse a request by a code of its own. Its <code>message</code> says what is wrong; decide by
<code>type</code>, then by the status.</p>`;
  return {
    path: '/docs/errors',
    title: 'Unknown code',
    description: 'A code that is not of the catalogue.',
    section: '/docs/errors',
    main,
    markdown: '',
  };
}
