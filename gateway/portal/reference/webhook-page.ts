// Makes the page of a webhook, with the request that the API sends, its payload with an example, a receiver, and the answers of the
// receiver.

import { createSlugs, escapeHtml } from '../html.ts';
import { neighbourLinks, type Page } from '../layout.ts';
import { codeBlock, plain, renderDescription } from '../markdown.ts';
import { receiverSamples } from '../samples/receiver.ts';
import { tabs } from '../tabs.ts';
import type { AddressedContract, WebhookAddress } from './addresses.ts';
import { exampleText, isJsonType } from './body-view.ts';
import { fence } from './operation-markdown.ts';
import { exampleBlocks } from './operation-page.ts';
import type { DocumentTools } from './reference.ts';
import { SchemaHtml } from './schema-html.ts';
import { mediaLines } from './schema-markdown.ts';
import { type SentRequestView, viewsOfWebhook } from './sent-requests.ts';

interface WebhookPageOptions {
  readonly tools: DocumentTools;
  /** HTML: the links to all operations. */
  readonly contents: string;
  readonly updatedMs: number | undefined;
}

const ABOUT = 'The API sends this request to an address of yours. Answer it with a status from 200 to 299.';

export function webhookPage(at: WebhookAddress, all: AddressedContract, options: WebhookPageOptions): Page {
  const { title, summary, path, webhook } = at;
  const requests = viewsOfWebhook(webhook, options.tools);
  const index = all.webhooks.indexOf(at);
  const main = `<article class="operation">
<div class="operation-head">
<p class="crumbs"><a href="${all.path}">${escapeHtml(all.reference.title)}</a> <span aria-hidden="true">›</span> <a href="${all.path}#webhooks">Webhooks</a></p>
<h1>${escapeHtml(title)}</h1>
<p class="endpoint">${requests.map(({ method }) => `<span class="method ${method.toLowerCase()}">${escapeHtml(method)}</span>`).join(' ')} to your address</p>
</div>
${requests.map((request) => requestHtml(request, summary, requests.length > 1)).join('\n')}
${neighbourLinks(all.webhooks[index - 1], all.webhooks[index + 1])}
</article>`;
  return {
    path,
    title,
    description: plain(summary || ABOUT).slice(0, 160),
    section: '/docs/reference',
    main,
    markdown: webhookMarkdown(at, requests),
    contents: options.contents,
    styles: ['reference.css'],
    isWide: true,
    updatedMs: options.updatedMs,
  };
}

/** Renders one request. @param isOneOfSeveral whether the ids of its elements need its method */
function requestHtml(request: SentRequestView, summary: string, isOneOfSeveral: boolean): string {
  const { method, description, headers, body, answers } = request;
  const prefix = isOneOfSeveral ? `${method.toLowerCase()}-` : '';
  const heading = isOneOfSeveral ? `${escapeHtml(method)} payload` : 'Payload';
  const render = new SchemaHtml(createSlugs());
  const listed = (id: string, heading: string, items: readonly (readonly [name: string, text: string])[]) => {
    const rows = items.map(
      ([own, text]) =>
        `<li><code>${escapeHtml(own)}</code><div class="member-text">${renderDescription(text)}</div></li>`,
    );
    return rows.length === 0 ? '' : `<h2 id="${prefix}${id}">${heading}</h2><ul class="members">${rows.join('')}</ul>`;
  };
  const payload = `<h2 id="${prefix}payload">${heading}</h2>${body === undefined ? '<p class="no-body">No body.</p>' : renderDescription(body.description) + render.media(body.media, `${prefix}payload`)}`;
  const examples = (body?.media ?? []).map((media) => ({
    id: media.type,
    label: media.type,
    panel: exampleBlocks([media], 'Payload'),
  }));
  const sample =
    examples.length === 0 ? '<p class="no-body">No body.</p>' : tabs(`${prefix}type`, 'Media type', examples);
  return `<div class="columns">
<div class="intro">${renderDescription(summary)}${renderDescription(description)}<ul class="needs"><li>${ABOUT}</li></ul></div>
<div class="samples"><section class="sample" aria-labelledby="${prefix}example-title"><h2 id="${prefix}example-title" class="sample-title">${heading}</h2>${sample}</section>${receiverHtml(request, prefix)}</div>
<div class="text">${payload}
${listed(
  'headers',
  'Headers',
  headers.map((header) => [header.name, header.description] as const),
)}
${listed(
  'answers',
  'Your answer',
  answers.map((answer) => [answer.status, answer.description] as const),
)}</div>
</div>`;
}

/** The samples of a receiver. A payload that is not JSON has none. */
function receiversOf(request: SentRequestView) {
  return isJsonType(request.body?.media[0]?.type ?? '') ? receiverSamples(request) : [];
}

function receiverHtml(request: SentRequestView, prefix: string): string {
  const samples = receiversOf(request).map(({ id, label, code, text }) => {
    return { id, label, panel: codeBlock(text, code, `Receiver in ${label}`) };
  });
  if (samples.length === 0) return '';
  return `<section class="sample" aria-labelledby="${prefix}receiver-title"><h2 id="${prefix}receiver-title" class="sample-title">Receiver</h2>${tabs(`${prefix}receiver`, 'Language', samples)}</section>`;
}

function webhookMarkdown({ title, summary }: WebhookAddress, requests: readonly SentRequestView[]): string {
  const parts = requests.flatMap((request) => {
    const { method, description, headers, body, answers } = request;
    return [
      `\`${method}\` to your address`,
      description,
      ...(body === undefined ? [] : ['## Payload', body.description, ...mediaLines(body.media)]),
      ...(body?.media ?? []).flatMap(({ type, examples }) =>
        examples.slice(0, 1).map(({ value }) => fence(isJsonType(type) ? 'json' : 'text', exampleText(value, type))),
      ),
      ...listLines(
        'Headers',
        headers.map((header) => [header.name, header.description] as const),
      ),
      ...listLines(
        'Your answer',
        answers.map((answer) => [answer.status, answer.description] as const),
      ),
      ...receiversOf(request).flatMap(({ label, code, text }) => [`## Receiver in ${label}`, fence(code, text)]),
    ];
  });
  return `${[`# ${title}`, summary, ABOUT, ...parts].filter(Boolean).join('\n\n')}\n`;
}

function listLines(heading: string, items: readonly (readonly [name: string, text: string])[]): string[] {
  if (items.length === 0) return [];
  return [`## ${heading}`, items.map(([name, text]) => `- \`${name}\`: ${plain(text)}`).join('\n')];
}
