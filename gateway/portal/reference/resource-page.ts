// Makes the page of a resource, with its operations, and the object that they return.

import { createSlugs, escapeHtml } from '../html.ts';
import type { Page } from '../layout.ts';
import { codeBlock, plain, renderDescription } from '../markdown.ts';
import type { AddressedContract, OperationGroup } from './addresses.ts';
import { exampleText } from './body-view.ts';
import { fence } from './operation-markdown.ts';
import { operationList } from './overview.ts';
import type { DocumentTools } from './reference.ts';
import { type ResourceObject, resourceObject } from './resource-object.ts';
import { SchemaHtml } from './schema-html.ts';
import { mediaLines } from './schema-markdown.ts';

interface ResourcePageOptions {
  readonly tools: DocumentTools;
  /** HTML: the links to all operations. */
  readonly contents: string;
  readonly updatedMs: number | undefined;
}

export function resourcePage(group: OperationGroup, all: AddressedContract, options: ResourcePageOptions): Page {
  const { name, path, description, operations } = group;
  const { title } = all.reference;
  const object = resourceObject(group, options.tools);
  const main = `<article class="operation">
<div class="operation-head"><p class="crumbs"><a href="${all.path}">${escapeHtml(title)}</a></p>
<h1><span class="group-name">${escapeHtml(name)}</span></h1>
<div class="lead">${renderDescription(description)}</div></div>
${operationList(operations)}
${object === undefined ? '' : objectHtml(object)}
</article>`;
  return {
    path,
    title: titleOf(name),
    description: plain(description).slice(0, 160) || `${titleOf(name)} of ${title}.`,
    section: '/docs/reference',
    main,
    markdown: markdownOf(group, object),
    contents: options.contents,
    styles: ['reference.css'],
    isWide: true,
    updatedMs: options.updatedMs,
  };
}

function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function headingOf({ name }: ResourceObject): string {
  return name === '' ? 'The object' : `The ${name} object`;
}

function objectHtml(object: ResourceObject): string {
  const { schema, example } = object;
  const sample =
    example === undefined
      ? ''
      : `<section class="sample" aria-labelledby="example-title"><h3 id="example-title" class="sample-title">Example</h3>${codeBlock(exampleText(example), 'json', 'Example')}</section>`;
  return `<h2 id="object">${escapeHtml(headingOf(object))}</h2>
<div class="columns of-object"><div class="samples">${sample}</div>
<div class="text">${new SchemaHtml(createSlugs()).whole(schema, 'object')}</div></div>`;
}

function markdownOf({ name, description, operations }: OperationGroup, object: ResourceObject | undefined): string {
  const lines = operations.map(
    ({ title, path, operation }) => `- [${title}](${path}.md): \`${operation.method} ${operation.path}\``,
  );
  const parts = [
    `# ${titleOf(name)}`,
    description,
    lines.join('\n'),
    ...(object === undefined ? [] : objectLines(object)),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function objectLines(object: ResourceObject): string[] {
  const { schema, example } = object;
  return [
    `## ${headingOf(object)}`,
    ...mediaLines([{ type: 'application/json', schema, examples: [] }]),
    ...(example === undefined ? [] : [fence('json', exampleText(example))]),
  ];
}
