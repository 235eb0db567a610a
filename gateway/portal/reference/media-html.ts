// The media types of a body or an answer, each with its schema, as HTML.

import { escapeHtml } from '../html.ts';
import type { MediaView } from './body-view.ts';
import type { createSchemaHtml } from './schema-html.ts';

export function mediaHtml(
  media: readonly MediaView[],
  prefix: string,
  render: ReturnType<typeof createSchemaHtml>,
): string {
  return media
    .map(({ type, schema }) => `<p class="media"><code>${escapeHtml(type)}</code></p>${render.whole(schema, prefix)}`)
    .join('\n');
}
