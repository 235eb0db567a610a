// The page for a path of the documentation at which nothing is.

import type { Page, Place } from './layout.ts';

export function notFoundPage({ base }: Place): Page {
  const main = `<h1>There is nothing here</h1>
<p class="lead">The documentation begins at <a href="${base}/docs">${base}/docs</a>.</p>`;
  return { title: 'Not found', description: 'There is nothing at this path.', section: '/docs', main };
}
