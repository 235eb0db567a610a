// One operation as Markdown: what its page says, for readers that are programs.

import { KEY_MARK, KEY_PLACEHOLDER } from '../highlight.ts';
import type { SampleRequest } from '../samples/sample-request.ts';
import { LANGUAGES } from '../samples/samples.ts';
import type { OperationAddress } from './addresses.ts';
import { errorCodesOf } from './error-codes.ts';
import { exampleText } from './example-text.ts';
import type { AnswerView, MediaView, OperationView } from './operation-view.ts';
import type { MemberView, SchemaView } from './schema-view.ts';

/** Markdown that links the guides there are. */
export interface OperationTexts {
  readonly needs: readonly string[];
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
    ...LANGUAGES.map(({ code, write }) => fenced(code, write(request).replaceAll(KEY_MARK, KEY_PLACEHOLDER))),
  );
  if (view.answers.length > 0) parts.push('## Answers', ...view.answers.flatMap(answerLines));
  const codes = errorCodesOf(operation, view).map(
    ({ status, codes: own }) =>
      `- ${status}: ${own.map((code) => `[\`${code}\`](/docs/errors/${code}.md)`).join(', ')}`,
  );
  parts.push('## Errors', codes.join('\n'), texts.aboutErrors);
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function answerLines({ status, description, media }: AnswerView): string[] {
  const examples = media.flatMap(({ examples: [example] }) =>
    example === undefined
      ? []
      : [fenced(typeof example.value === 'string' ? 'text' : 'json', exampleText(example.value))],
  );
  return [`### ${status}`, description, ...mediaLines(media), ...examples];
}

function mediaLines(media: readonly MediaView[]): string[] {
  return media.flatMap(({ type, schema }) => [
    `\`${type}\`: ${schema.type}${tailOf(schema)}`,
    memberLines(schema.members, '').join('\n'),
  ]);
}

function memberLines(members: readonly MemberView[], indent: string): string[] {
  return members.flatMap(({ name, isRequired, schema }) => [
    `${indent}- \`${name}\` (${schema.type}${isRequired ? ', required' : ''})${tailOf(schema)}`,
    ...memberLines(schema.members, `${indent}  `),
    ...schema.choices.flatMap(({ label, schema: choice }) => [
      `${indent}  - ${label}${tailOf(choice)}`,
      ...memberLines(choice.members, `${indent}    `),
    ]),
  ]);
}

/** Description and rules in one line. */
function tailOf({ description, rules, values, cut }: SchemaView): string {
  const text = description.replace(/\s+/g, ' ').trim();
  const listed = values.length === 0 ? '' : `One of ${values.map((value) => `\`${value}\``).join(', ')}.`;
  const ruled = rules.length === 0 ? '' : `(${rules.join('; ')})`;
  const tail = [text, listed, ruled, cut ?? ''].filter(Boolean).join(' ');
  return tail === '' ? '' : `: ${tail}`;
}

/** A block of code; its fence is longer than any in the text. */
export function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
