// Writes the page of one operation as Markdown, for programs that read.

import { KEY_MARK, KEY_PLACEHOLDER } from '../highlight.ts';
import type { SampleRequest } from '../samples/sample-request.ts';
import { LANGUAGES } from '../samples/samples.ts';
import type { OperationAddress } from './addresses.ts';
import { exampleText, isJsonType } from './body-view.ts';
import type { CodesOfStatus } from './error-codes.ts';
import type { AnswerView, OperationView } from './operation-view.ts';
import { mediaLines, tailOf } from './schema-markdown.ts';
import { sentRequestsLines } from './sent-requests-text.ts';

/** The texts about an operation in Markdown, with links to existing guides only. */
export interface OperationTexts {
  readonly needs: readonly string[];
  readonly codes: readonly CodesOfStatus[];
  readonly aboutErrors: string;
}

export function operationMarkdown(
  { operation, title }: OperationAddress,
  view: OperationView,
  request: SampleRequest,
  texts: OperationTexts,
): string {
  const { description, isDeprecated } = operation;
  const parts = [
    `# ${title}`,
    `\`${operation.method} ${operation.path}\``,
    isDeprecated ? '**Deprecated.** Do not begin to use it.' : '',
    description,
    texts.needs.join(' '),
  ];
  if (view.parameters.length > 0) {
    const lines = view.parameters.map(
      ({ name, place, isRequired, schema, description: own }) =>
        `- \`${name}\` (${place}, ${schema.type}${isRequired ? ', required' : ''})${tailOf({ ...schema, description: own || schema.description })}`,
    );
    parts.push('## Parameters', lines.join('\n'));
  }
  if (view.body) {
    parts.push(
      `## Body${view.body.isRequired ? ' (required)' : ''}`,
      view.body.description,
      ...mediaLines(view.body.media),
    );
  }
  parts.push(
    '## Samples',
    ...LANGUAGES.map(({ code, write }) => fence(code, write(request).replaceAll(KEY_MARK, KEY_PLACEHOLDER))),
  );
  if (view.answers.length > 0) parts.push('## Responses', ...view.answers.flatMap(answerLines));
  parts.push(...sentRequestsLines('Callbacks', view.callbacks));
  const codes = texts.codes.map(
    ({ status, codes: own }) =>
      `- ${status}: ${own.map((code) => `[\`${code}\`](/docs/errors/${code}.md)`).join(', ')}`,
  );
  parts.push('## Errors', codes.join('\n'), texts.aboutErrors);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function answerLines({ status, description, media }: AnswerView): string[] {
  const examples = media.flatMap(({ type, examples: [example] }) => {
    if (example === undefined) return [];
    const language = typeof example.value === 'string' && !isJsonType(type) ? 'text' : 'json';
    return [fence(language, exampleText(example.value, type))];
  });
  return [`### ${status}`, description, ...mediaLines(media), ...examples];
}

/** Returns a code block, with a fence that is longer than any fence in the text. */
export function fence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
