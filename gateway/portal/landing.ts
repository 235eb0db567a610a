// Makes the first page, with the description of the API, three first steps with a request to send, the resources by purpose, and links to
// the rest.

import { FURTHER_KEYS, firstKeyText } from './first-key.ts';
import type { ChosenSample } from './guide-facts.ts';
import { type Guide, guideCards } from './guides.ts';
import { KEY_MARK, KEY_PLACEHOLDER } from './highlight.ts';
import { escapeHtml, shorten } from './html.ts';
import type { HelpLinks, Page } from './layout.ts';
import { plain, renderDescription, renderLine } from './markdown.ts';
import type { AddressedContract, OperationGroup } from './reference/addresses.ts';
import { fence } from './reference/operation-markdown.ts';
import { requestSamples } from './reference/operation-page.ts';
import { viewOfOperation } from './reference/operation-view.ts';
import { operationsText, operatorCards } from './reference/overview.ts';
import { breakable } from './reference/path-text.ts';
import type { DocumentTools } from './reference/reference.ts';
import { sampleFormOf } from './reference/sample-form.ts';
import { reasonNotToSend, tryForm } from './reference/try-form.ts';
import { curlSample } from './samples/curl.ts';
import { toSampleRequest } from './samples/sample-request.ts';

interface LandingOptions {
  readonly title: string;
  /** Markdown. */
  readonly description: string;
  readonly publicUrl: string;
  readonly references: readonly AddressedContract[];
  readonly guides: readonly Guide[];
  readonly sample: ChosenSample | undefined;
  readonly tools: DocumentTools;
  readonly help: HelpLinks;
  /** Pages beside guides and reference. */
  readonly otherPages: readonly Page[];
}

/** The description of an API whose documents contain none. */
const UNDESCRIBED = 'An HTTP API with one key and one form of error, described by OpenAPI.';

export function landingPage(options: LandingOptions): Page {
  const { title, description, references, guides, sample, tools } = options;
  const first = sample && firstRequest(sample, options, tools);
  const main = `<article class="start">
<div class="hero${first === undefined ? ' alone' : ''}">
<div class="hero-text"><h1>${escapeHtml(title)}</h1>
<div class="lead">${renderDescription(description || UNDESCRIBED)}</div>
<p class="calls"><a class="primary" href="/docs/reference">Browse the reference</a>${guides[0] === undefined ? '' : `<a href="/docs/guides/${guides[0].name}">${escapeHtml(guides[0].title)}</a>`}</p>
</div>
${stepsHtml(options)}
${first === undefined ? '' : `<section class="sample request hero-sample" aria-labelledby="first-title"><h2 id="first-title" class="sample-title">${first.heading}</h2>\n${first.html}</section>`}
</div>
<h2 id="resources">Resources</h2>
${resourcesHtml(options)}
${guides.length > 0 ? `<h2 id="guides">Guides</h2>\n${guideCards(guides)}` : ''}
<h2 id="more">For your tools</h2>
${filesHtml(references)}
</article>`;
  return {
    path: '/docs',
    title: 'Documentation',
    description: plain(description).slice(0, 160) || `Documentation of ${title}.`,
    section: '/docs',
    main,
    markdown: markdownOf(options, first?.markdown ?? ''),
    styles: ['reference.css'],
    ...(first?.canSend ? { scripts: ['request.js'] } : {}),
  };
}

function firstRequest(
  { at, server }: ChosenSample,
  { publicUrl }: LandingOptions,
  tools: DocumentTools,
): { heading: string; html: string; markdown: string; canSend: boolean } {
  const { operation, path } = at;
  const view = viewOfOperation(operation, tools);
  const form = sampleFormOf(operation, view, server);
  const request = toSampleRequest(form);
  const method = `<span class="method ${operation.method.toLowerCase()}">${escapeHtml(operation.method)}</span>`;
  const reason = reasonNotToSend(operation, form, { isOwnOrigin: server === publicUrl, isLocal: false });
  const below = reason === undefined ? tryForm(operation, { ...view, parameters: [] }, form) : '';
  return {
    heading: `<a href="${path}">${method} <code>${breakable(operation.path)}</code></a>`,
    html: requestSamples(request) + below,
    markdown: `## The first request\n\n${fence('sh', curlSample(request).replaceAll(KEY_MARK, KEY_PLACEHOLDER))}`,
    canSend: reason === undefined,
  };
}

interface Step {
  readonly title: string;
  readonly text: string;
  /** The text that replaces the step when the key at the top of the page has worked. */
  readonly withKey?: string;
  readonly isDoneByKey?: boolean;
}

/** Returns the steps as HTML, from the first key to a program that handles failures. */
function stepsOf({ guides, sample, help, otherPages }: LandingOptions): Step[] {
  const has = (name: string) => guides.some((guide) => guide.name === name);
  const guide = (name: string, text: string) => (has(name) ? `<a href="/docs/guides/${name}">${text}</a>` : text);
  const takesKey = sample?.at.operation.security.some(({ scheme }) => scheme === 'apiKey') === true;
  const hasTests = sample?.at.operation.hasTestMode === true;
  const hasAccount = otherPages.some(({ path }) => path === '/docs/account');
  const own = [firstKeyText(help.contact), ...(hasAccount ? [FURTHER_KEYS] : [])].join(' ');
  const reach = hasTests ? 'A test key reaches test data only' : 'A key acts for your organization';
  const limits = otherPages.some(({ path }) => path === '/docs/limits')
    ? ' and <a href="/docs/limits">how much your tier may send</a>'
    : '';
  return [
    ...(takesKey
      ? [
          {
            title: hasTests ? 'Get a test key' : 'Get a key',
            text: `${renderLine(own)} ${reach}${has('authentication') ? `: ${guide('authentication', 'how keys work')}` : ''}.`,
            ...(hasTests ? { withKey: 'The key at the top of this page works.', isDoneByKey: true } : {}),
          },
        ]
      : []),
    {
      title: 'Send a request',
      text: hasTests
        ? 'Paste the key at the top of this page. Every sample then has it, and “Send” works on every page.'
        : 'Every operation has a sample in curl, JavaScript, Python and Go.',
      ...(hasTests ? { withKey: 'Every sample has your key now. Press “Send”, here or on any other page.' } : {}),
    },
    {
      title: 'Expect failures',
      text: `Every error is ${guide('errors', 'one object')} with <a href="/docs/errors">a code</a> that has a page. Learn ${guide('idempotency', 'to repeat writes safely')}${limits}.`,
    },
  ];
}

function stepsHtml(options: LandingOptions): string {
  const items = stepsOf(options).map(({ title, text, withKey, isDoneByKey }) => {
    const later = withKey === undefined ? '' : `<p class="with-key" hidden>${withKey}</p>`;
    return `<li${isDoneByKey ? ' class="until-key"' : ''}><h2>${title}</h2><p>${text}</p>${later}</li>`;
  });
  return `<ol class="steps">${items.join('\n')}</ol>`;
}

const PURPOSE_MAX = 120;

/** Returns the resources for clients, by contract. Resources for operators of the API are folded below. */
function resourcesHtml({ references }: LandingOptions): string {
  const shown = references
    .map((reference) => ({ reference, own: reference.groups.filter((group) => !group.isForOperators) }))
    .filter(({ own }) => own.length > 0);
  const parts = shown.map(
    ({ reference, own }) => (shown.length > 1 ? contractHeading(reference) : '') + purposesHtml(own),
  );
  const sent = references.filter(({ webhooks }) => webhooks.length > 0).map(webhooksLink);
  return [...parts, ...sent, operatorCards(references)].join('\n');
}

function webhooksLink({ reference: { title }, path, webhooks }: AddressedContract): string {
  const count = webhooks.length === 1 ? 'one event' : `${webhooks.length} events`;
  return `<p><a href="${path}#webhooks">Webhooks</a>: ${escapeHtml(title)} sends ${count} to an address of yours.</p>`;
}

function contractHeading({ reference: { title }, path }: AddressedContract): string {
  return `<h3><a href="${path}">${escapeHtml(title)}</a></h3>`;
}

/** Returns the resources by purpose, below its name. */
function purposesHtml(groups: readonly OperationGroup[]): string {
  return [...Map.groupBy(groups, ({ purpose }) => purpose)]
    .map(([purpose, own]) => {
      const heading = purpose === undefined ? '' : `<h4>${escapeHtml(purpose)}</h4>`;
      return heading + cardsHtml(own);
    })
    .join('\n');
}

function cardsHtml(groups: readonly OperationGroup[]): string {
  const cards = groups.map((group) => {
    const { name, path, operations } = group;
    const text = shorten(firstSentenceOf(plain(purposeOf(group))), PURPOSE_MAX);
    return `<li><a class="card compact" href="${path}"><strong class="group-name">${escapeHtml(name)}</strong> <small>${operationsText(operations.length)}</small> <span class="purpose">${escapeHtml(text)}</span></a></li>`;
  });
  return `<ul class="cards">${cards.join('')}</ul>`;
}

/** Returns the description of a group in the contract; otherwise the titles of its operations. */
function purposeOf({ description, operations }: OperationGroup): string {
  return description || operations.map(({ title }) => title).join(', ');
}

function firstSentenceOf(text: string): string {
  const [, first = text] = /^(.{12,}?[.!?])(?:\s|$)/s.exec(text) ?? [];
  return first;
}

function filesHtml(references: readonly AddressedContract[]): string {
  const ofClients = references.filter(({ clientOperations }) => clientOperations > 0);
  const rows = (ofClients.length > 0 ? ofClients : references).map(({ reference: { name, title }, path }) => {
    const files = [
      `<a href="/openapi/${name}.json">OpenAPI (JSON)</a>`,
      `<a href="/openapi/${name}.yaml">OpenAPI (YAML)</a>`,
      `<a href="${path}.postman.json" download="${name}.postman.json">Postman</a>`,
    ];
    return `<li><span>${escapeHtml(title)}</span> ${files.join(' ')}</li>`;
  });
  return `<ul class="files">${rows.join('\n')}<li><span>For programs that read</span> <a href="/llms.txt">llms.txt</a></li></ul>`;
}

function markdownOf({ title, description, references, guides, otherPages }: LandingOptions, first: string): string {
  const list = (items: readonly (readonly [text: string, path: string])[]) =>
    items.map(([text, path]) => `- [${text}](${path}.md)`).join('\n');
  const parts = [
    `# ${title}`,
    description,
    first,
    `## Reference\n\n${list(references.map(({ reference, path }) => [reference.title, path]))}`,
    guides.length > 0 ? `## Guides\n\n${list(guides.map((guide) => [guide.title, `/docs/guides/${guide.name}`]))}` : '',
    '## Errors\n\n[Every code](/docs/errors.md), and what to do about it.',
    otherPages.length > 0 ? `## More\n\n${list(otherPages.map((page) => [page.title, page.path]))}` : '',
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}
