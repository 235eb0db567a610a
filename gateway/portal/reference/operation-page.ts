// Makes the page of one operation, with its parameters, body and answers on the left, and samples on the right.

import type { ErrorCode } from '../../catalogue/errors.ts';
import { withKnownGuides } from '../guides.ts';
import { createSlugs, escapeHtml } from '../html.ts';
import { neighbourLinks, type Page } from '../layout.ts';
import { codeBlock, plain, renderDescription } from '../markdown.ts';
import { type SampleForm, type SampleRequest, toSampleRequest } from '../samples/sample-request.ts';
import { LANGUAGES } from '../samples/samples.ts';
import { tabs } from '../tabs.ts';
import type { AddressedContract, OperationAddress } from './addresses.ts';
import { type BodyView, exampleText, isJsonType, type MediaView } from './body-view.ts';
import { ABOUT_ERRORS, type CodesOfStatus, errorCodesOf, withOwnFields, withOwnPages } from './error-codes.ts';
import { type OperationTexts, operationMarkdown } from './operation-markdown.ts';
import { type AnswerView, needsOf, type OperationView, viewOfOperation } from './operation-view.ts';
import { breakable } from './path-text.ts';
import type { DocumentTools, ReferredOperation } from './reference.ts';
import { sampleFormOf } from './sample-form.ts';
import { SchemaHtml } from './schema-html.ts';
import { sentRequestsHtml } from './sent-requests-text.ts';
import { reasonNotToSend, tryForm } from './try-form.ts';

const HEADINGS = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Headers',
  cookie: 'Cookies',
} as const;

interface OperationPageOptions {
  readonly tools: DocumentTools;
  readonly publicUrl: string;
  /** The names of the existing guides. No link leads to another guide. */
  readonly guides: ReadonlySet<string>;
  /** The codes that can occur under the configuration. */
  readonly codes: readonly ErrorCode[];
  /** HTML: the links to all operations. */
  readonly contents: string;
  /** Whether the operation is on the origin of its page, because a page may send requests to no other origin. */
  readonly isOwnOrigin: boolean;
  readonly updatedMs: number | undefined;
}

export function operationPage(at: OperationAddress, all: AddressedContract, options: OperationPageOptions): Page {
  const { operation, path } = at;
  const { reference } = all;
  const view = withOwnPages(withOwnFields(viewOfOperation(operation, options.tools)), options.publicUrl);
  const linkKnownGuides = (markdown: string) => withKnownGuides(markdown, options.guides);
  const texts = {
    needs: needsOf(at, view).map(linkKnownGuides),
    codes: errorCodesOf(operation, view, options.codes),
    aboutErrors: linkKnownGuides(ABOUT_ERRORS),
  };
  const form = sampleFormOf(operation, view, reference.server);
  const request = toSampleRequest(form);
  const main = `<article class="operation">
<div class="operation-head">
<p class="crumbs"><a href="${all.path}">${escapeHtml(reference.title)}</a> <span aria-hidden="true">›</span> <a class="group-name" href="${at.group.path}">${escapeHtml(at.group.name)}</a></p>
<h1>${escapeHtml(at.title)}</h1>
<p class="endpoint"><span class="method ${operation.method.toLowerCase()}">${escapeHtml(operation.method)}</span> <code>${breakable(operation.path)}</code></p>
</div>
<div class="columns">
<div class="intro">${introOf(operation, texts)}</div>
<div class="samples">${samplesOf(operation, view, form, options)}</div>
<div class="text">${textOf(view, texts)}</div>
</div>
${neighbourLinks(neighbourOf(at, all, -1), neighbourOf(at, all, 1))}
</article>`;
  return {
    path,
    title: at.title,
    description: plain(operation.description || `${operation.method} ${operation.path}`).slice(0, 160),
    section: '/docs/reference',
    main,
    markdown: operationMarkdown(at, view, request, texts),
    contents: options.contents,
    scripts: ['request.js'],
    styles: ['reference.css'],
    isWide: true,
    updatedMs: options.updatedMs,
  };
}

/** Returns the neighbour of an operation. The neighbour of an operation for clients is never an operation for operators. */
function neighbourOf(
  at: OperationAddress,
  { operations }: AddressedContract,
  step: 1 | -1,
): OperationAddress | undefined {
  const next = operations[at.index + step];
  return next?.isForOperators === at.isForOperators ? next : undefined;
}

/** Returns the purpose of the operation and its callers. It comes before the samples on narrow pages. */
function introOf(operation: ReferredOperation, { needs }: OperationTexts): string {
  const parts = [
    operation.isDeprecated ? '<p class="warning">This operation is deprecated. Do not begin to use it.</p>' : '',
    renderDescription(operation.description),
    `<ul class="needs">${needs
      .map((need) => `<li>${renderDescription(need).replace(/^<p>|<\/p>\n?$/g, '')}</li>`)
      .join('')}</ul>`,
  ];
  return parts.filter(Boolean).join('\n');
}

function textOf(view: OperationView, texts: OperationTexts): string {
  const render = new SchemaHtml(createSlugs());
  const parts: string[] = [];
  const addParameters = (place: keyof typeof HEADINGS) => {
    const here = view.parameters.filter((parameter) => parameter.place === place);
    if (here.length > 0) parts.push(`<h2 id="${place}">${HEADINGS[place]}</h2>${render.parameters(here)}`);
  };
  // The path and the query come first, because most operations have the same headers.
  for (const place of ['path', 'query'] as const) addParameters(place);
  if (view.body) parts.push(bodyHtml(view.body, render));
  for (const place of ['header', 'cookie'] as const) addParameters(place);
  if (view.answers.length > 0) parts.push(answersHtml(view.answers, render));
  parts.push(sentRequestsHtml({ heading: 'Callbacks', id: 'callbacks' }, view.callbacks, render));
  parts.push(codesHtml(texts.codes, texts.aboutErrors));
  return parts.filter(Boolean).join('\n');
}

function bodyHtml({ description, isRequired, media }: BodyView, render: SchemaHtml): string {
  const mark = isRequired ? ' <span class="required">required</span>' : '';
  return `<h2 id="body">Body${mark}</h2>${renderDescription(description)}${render.media(media, 'body')}`;
}

function answersHtml(answers: readonly AnswerView[], render: SchemaHtml): string {
  const firstGood = answers.find(({ status }) => status.startsWith('2'));
  const items = answers.map((answer) => {
    const { status, description, headers, media } = answer;
    const id = `answer-${status.toLowerCase()}`;
    const list = headers.map(
      (header) =>
        `<li><code>${escapeHtml(header.name)}</code><div class="member-text">${renderDescription(header.description)}</div></li>`,
    );
    const shown =
      list.length === 0
        ? ''
        : `<details class="nested"><summary>${list.length} headers <span class="quiet">of ${status}</span></summary><ul class="members">${list.join('')}</ul></details>`;
    const [first = '', rest = ''] = firstSentence(description);
    return `<details class="answer" id="${id}"${answer === firstGood ? ' open' : ''}><summary><span class="status s${status[0]}">${status}</span> <span>${renderInline(first)}</span></summary>
${renderDescription(rest)}${shown}${render.media(media, id)}</details>`;
  });
  return `<h2 id="responses">Responses</h2>${items.join('\n')}`;
}

/** Returns the error codes of the operation, with links to their pages. */
function codesHtml(groups: readonly CodesOfStatus[], about: string): string {
  const rows = groups.map(({ status, codes }) => {
    const links = codes.map((code) => `<li><a href="/docs/errors/${code}"><code>${code}</code></a></li>`);
    return `<div><dt>${status}</dt><dd><ul>${links.join('')}</ul></dd></div>`;
  });
  return `<h2 id="errors">Errors</h2><dl class="codes">${rows.join('')}</dl>
<div class="quiet-text">${renderDescription(about)}</div>`;
}

/** Splits a description after its first sentence, so that the rest unfolds. */
function firstSentence(description: string): string[] {
  const [, first = description, rest = ''] = /^(.{20,}?[.:!?])\s+(\S[\s\S]*)$/.exec(description) ?? [];
  return [first, rest];
}

/** Renders a line of Markdown within a control, which cannot have links. */
function renderInline(markdown: string): string {
  return renderDescription(markdown)
    .trim()
    .replace(/^<p>|<\/p>$/g, '')
    .replace(/<\/?a\b[^>]*>/g, '');
}

/** Returns the request, which can be changed and, if possible, sent, and its possible answers. */
function samplesOf(
  operation: ReferredOperation,
  view: OperationView,
  form: SampleForm,
  { isOwnOrigin, publicUrl }: OperationPageOptions,
): string {
  const isLocal = /^https?:\/\/(localhost|127\.|\[::1\])/.test(publicUrl);
  const reason = reasonNotToSend(operation, form, { isOwnOrigin, isLocal });
  const below = reason === undefined ? tryForm(operation, view, form) : `<p class="not-here">${reason}</p>`;
  return `<section class="sample request" aria-labelledby="request-title"><h2 id="request-title" class="sample-title">Request</h2>
${requestSamples(toSampleRequest(form))}
${below}</section>
${answerSamples(view.answers)}`;
}

/** Returns the request in every language. */
export function requestSamples(request: SampleRequest): string {
  const panels = LANGUAGES.map(({ id, label, code, write }) => ({
    id,
    label,
    panel: `<div data-sample="${id}">${codeBlock(write(request), code, label)}</div>`,
  }));
  return tabs('language', 'Language', panels);
}

function answerSamples(answers: readonly AnswerView[]): string {
  const withSamples = answers.map(({ status, media }) => {
    return { id: status.toLowerCase(), label: status, panel: exampleBlocks(media, status) };
  });
  if (withSamples.length === 0) return '';
  return `<section class="sample" aria-labelledby="answer-title"><h2 id="answer-title" class="sample-title">Response</h2>${tabs('response', 'Status', withSamples)}</section>`;
}

/** Returns the examples of a body. @param label what the body is, for readers of a screen */
export function exampleBlocks(media: readonly MediaView[], label: string): string {
  const blocks = media.flatMap(({ type, examples }) =>
    examples.map(({ label: own, value }) => {
      const title = examples.length > 1 ? `<p class="example-label">${escapeHtml(own)}</p>` : '';
      const language = isText(value) && !isJsonType(type) ? 'text' : 'json';
      return title + codeBlock(exampleText(value, type), language, `${label} ${type}`);
    }),
  );
  return blocks.length > 0 ? blocks.join('\n') : '<p class="no-body">No body.</p>';
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
