// The first page: how to send the first request, and links to everything else.

import type { ChosenSample } from './guide-facts.ts';
import { type Guide, guideCards } from './guides.ts';
import { KEY_MARK, KEY_PLACEHOLDER } from './highlight.ts';
import { escapeHtml } from './html.ts';
import type { Page } from './layout.ts';
import { plain, renderDescription } from './markdown.ts';
import type { AddressedContract } from './reference/addresses.ts';
import { fenced } from './reference/operation-markdown.ts';
import { requestSamples } from './reference/operation-page.ts';
import { viewOfOperation } from './reference/operation-view.ts';
import { referenceCards } from './reference/overview.ts';
import type { DocumentTools } from './reference/reference.ts';
import { keyBox } from './reference/try-form.ts';
import { curlSample } from './samples/curl.ts';
import { sampleRequestOf } from './samples/sample-request.ts';

export interface LandingOptions {
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  readonly references: readonly AddressedContract[];
  readonly guides: readonly Guide[];
  readonly sample: ChosenSample | undefined;
  readonly tools: DocumentTools;
}

export function landingPage({ title, description, references, guides, sample, tools }: LandingOptions): Page {
  const first = sample && firstRequest(sample, tools);
  const main = `<article class="start">
<div class="hero"><h1>${escapeHtml(title)}</h1>
<div class="lead">${renderDescription(description)}</div></div>
${first?.html ?? ''}
<h2 id="reference">Reference</h2>
<p>Every operation with its parameters, bodies and answers, to read and to try.</p>
${referenceCards(references)}
${guides.length > 0 ? `<h2 id="guides">Guides</h2>\n${guideCards(guides)}` : ''}
<h2 id="errors">Errors</h2>
<p><a href="/docs/errors">Every code</a> of the gateway, and what to do about it. Quote the <code>X-Request-Id</code> of an answer when you ask
for help.</p>
<p class="quiet-text">For programs that read: <a href="/llms.txt">llms.txt</a>.</p>
</article>`;
  const lists = [
    `## Reference\n\n${references.map(({ reference, path }) => `- [${reference.title}](${path}.md)`).join('\n')}`,
    ...(guides.length > 0
      ? [`## Guides\n\n${guides.map((guide) => `- [${guide.title}](/docs/guides/${guide.name}.md)`).join('\n')}`]
      : []),
    '## Errors\n\n[Every code](/docs/errors.md), and what to do about it.',
  ];
  return {
    path: '/docs',
    title: 'Documentation',
    description: plain(description).slice(0, 160) || `Documentation of ${title}.`,
    section: '/docs',
    main,
    markdown: `${[`# ${title}`, description, first?.markdown ?? '', ...lists].filter(Boolean).join('\n\n')}\n`,
  };
}

function firstRequest({ at, server }: ChosenSample, tools: DocumentTools): { html: string; markdown: string } {
  const { operation, path, title } = at;
  const request = sampleRequestOf(operation, viewOfOperation(operation, tools), server);
  const takesKey = request.credentials === 'key';
  const html = `<h2 id="first">The first request</h2>
<div class="first"><div>
<p><a href="${path}">${escapeHtml(title)}</a>: <code>${escapeHtml(operation.method)} ${escapeHtml(operation.path)}</code></p>
${takesKey && operation.hasTestMode ? '<p>A key that begins with <code>sk_test_</code> reaches test data only. Paste yours, and every sample has it.</p>' : ''}
${takesKey ? keyBox(operation.hasTestMode) : ''}
</div><div>${requestSamples(request)}</div></div>`;
  const markdown = `## The first request\n\n${fenced('sh', curlSample(request).replaceAll(KEY_MARK, KEY_PLACEHOLDER))}`;
  return { html, markdown };
}
