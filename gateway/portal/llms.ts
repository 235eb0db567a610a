// Makes `llms.txt`, which lists the documentation as Markdown pages, for programs that read (llmstxt.org).

import type { Guide } from './guides.ts';
import type { Page } from './layout.ts';
import type { AddressedContract, OperationGroup } from './reference/addresses.ts';

interface LlmsOptions {
  readonly title: string;
  readonly description: string;
  readonly publicUrl: string;
  readonly guides: readonly Guide[];
  readonly references: readonly AddressedContract[];
  /** Other pages. */
  readonly pages: readonly Page[];
}

export function llmsText({ title, description, publicUrl, guides, references, pages }: LlmsOptions): string {
  const line = (text: string, path: string, note: string) =>
    `- [${text}](${publicUrl}${path}.md)${note && `: ${note}`}`;
  const parts = [`# ${title}`, ...(description === '' ? [] : [`> ${description}`])];
  if (guides.length > 0) {
    parts.push(
      '## Guides',
      guides.map((guide) => line(guide.title, `/docs/guides/${guide.name}`, guide.summary)).join('\n'),
    );
  }
  const linesOf = (group: OperationGroup) => [
    line(group.name, group.path, 'the resource'),
    ...group.operations.map(({ title: own, path: href, operation }) =>
      line(own, href, `${operation.method} ${operation.path}`),
    ),
  ];
  for (const { reference, path, groups, webhooks, clientOperations } of references) {
    if (clientOperations === 0) continue;
    const lines = groups.filter((group) => !group.isForOperators).flatMap(linesOf);
    const sent = webhooks.map(({ title: own, path: href }) => line(own, href, 'a webhook'));
    parts.push(`## ${reference.title}`, [line('Overview', path, ''), ...lines, ...sent].join('\n'));
  }
  for (const page of pages) parts.push(`## ${page.title}`, line(page.title, page.path, page.description));
  parts.push('## Errors', line('Every error code', '/docs/errors', ''));
  // Programs leave this section out where they have room for little.
  const forOperators = references.flatMap(({ reference, groups }) =>
    groups
      .filter((group) => group.isForOperators)
      .map((group) => line(`${reference.title}: ${group.name}`, group.path, 'for operators of the API')),
  );
  if (forOperators.length > 0) parts.push('## Optional', forOperators.join('\n'));
  return `${parts.join('\n\n')}\n`;
}
