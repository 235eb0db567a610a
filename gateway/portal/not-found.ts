// The page for unknown paths of the documentation.

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
